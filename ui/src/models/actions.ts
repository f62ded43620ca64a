import type {
  ConversionChoice,
  ErrorReport,
  HubSettings,
  KeptOffer,
  KvPrecision,
  RemoteFilter,
  RemoteModel,
} from "../bridge/bindings";
import { reportOf, shell } from "../bridge/bridge";
import { settingsQueue } from "../bridge/serialQueue";
import { noteReport } from "../frame/errors";
import { leadOn } from "../frame/leadOn";
import { t } from "../language/text";
import { dispatch, setView, useStore } from "../state/store";
import type { Step } from "./jobs";
import { AS_IS } from "./models";
import { type Listing, NO_FILTER } from "./view";

const state = () => useStore.getState();

/** Names what an error is about. */
export const about = {
  library: "library",
  add: "add",
  get: "get",
  here: "here",
  place: "place",
  token: "token",
  /** A part of how the Hub is reached. */
  hub: (part: keyof HubSettings) => `hub:${part}`,
  context: "context",
  memory: "memory",
  /** Getting the model of a repository. */
  details: (repo: string) => `details:${repo}`,
  model: (path: string) => `model:${path}`,
  /** The text that it is measured on how a model in a folder is converted. */
  text: (path: string) => `text:${path}`,
  /** The draft model that is not here yet of the model in a folder. */
  draftOf: (path: string) => `draft:${path}`,
  deleted: (path: string) => `deleted:${path}`,
  job: (job: number) => `job:${job}`,
};

/** Does something; if it fails, the error is shown beside what it is about. */
async function attempt(subject: string, act: () => Promise<unknown>): Promise<boolean> {
  setView({ libraryError: null });
  try {
    await act();
    return true;
  } catch (error) {
    fail(subject, reportOf(error));
    return false;
  }
}

function fail(subject: string, report: ErrorReport): void {
  setView({ libraryError: { about: subject, report } });
}

export const loadLibrary = () =>
  attempt(about.library, async () => dispatch({ kind: "library", library: await shell.library() }));

export function openModels(): void {
  setView({ screen: "models", modelPicker: false });
  if (state().library === null) loadLibrary();
  if (state().catalogue === null) loadCatalogue(false);
}

/** Opens the screen where models are got. */
export function getModels(): void {
  setView({ spotlight: about.get });
  openModels();
}

/** Asks for models. Of two questions for the same listing, the later one counts. */
export async function list(
  key: "catalogue" | "found",
  question: () => Promise<RemoteModel[]>,
): Promise<void> {
  const asking: Listing = { models: state()[key]?.models ?? null, asking: true, error: null };
  setView({ [key]: asking });
  const answer = await question().then(
    (models): Listing => ({ models, asking: false, error: null }),
    (error): Listing => ({ ...asking, asking: false, error: reportOf(error) }),
  );
  if (state()[key] === asking) setView({ [key]: answer });
}

/** Shows the models to recommend: as they came with the app, or as they are on the Hub now. */
export const loadCatalogue = (refresh: boolean) => list("catalogue", () => shell.catalogue(refresh));

/** Searches the Hub for what the filter says. */
export const searchModels = () => list("found", () => shell.searchModels(state().filter, true));

/**
 * Looks again at what the last search found, with other eyes. The Hub is asked only for what it was not asked before.
 */
const searchAgain = () => list("found", () => shell.searchModels(state().filter, false));

/** Asks again what the models of the Hub that are shown are judged to be. */
export async function judgeAgain(): Promise<void> {
  const looks = [];
  if (state().catalogue !== null) looks.push(loadCatalogue(false));
  if (state().found !== null) looks.push(searchAgain());
  await Promise.all(looks);
}

/** Chooses how long a chat the verdicts are for; all that are shown change with it. */
export const setFitContext = (tokens: number) =>
  attempt(about.context, async () => {
    await settingsQueue.run(() => shell.setFitContext(tokens));
    await judgeAgain();
  });

/** Chooses how models keep keys and values; the loaded one is loaded again. */
export const setKvPrecision = (precision: KvPrecision) =>
  attempt(about.memory, async () => {
    await shell.setKvPrecision(precision);
    await judgeAgain();
  });

/** Changes what is searched for; a search that is shown is done again. */
export function changeFilter(change: Partial<RemoteFilter>): void {
  setView({ filter: { ...state().filter, ...change } });
  if (!("text" in change) && state().found !== null) searchAgain();
}

export function endSearch(): void {
  setView({ found: null, filter: { ...state().filter, text: "" } });
}

/** Opens what is known of a repository. */
export const openRepo = (repo: string, subject: string) =>
  attempt(subject, async () => {
    const { catalogue, details: before } = state();
    const known = catalogue?.models?.find((model) => model.repo === repo);
    const filter = { ...NO_FILTER, text: repo };
    const details = known ?? (await shell.searchModels(filter, true)).find((model) => model.repo === repo);
    // Others that were opened or closed meanwhile stay so.
    if (state().details !== before) return;
    if (details) setView({ details });
    else
      fail(subject, {
        code: "not_found",
        message: t("model-gone", { repo }),
        hint: t("model-gone.hint"),
      });
  });

/** The name of a model without what a conversion was called: `Qwen3.5-9B` of `Qwen3.5-9B-MLX-8bit`. */
export const familyOf = (name: string): string =>
  name.match(/^.*?\d(?:\.\d+)?B(?:-A\d+(?:\.\d+)?B)?/i)?.[0] ?? name;

/** Searches the Hub for copies of a model that have their MTP head. */
export const findWithHead = (name: string) => {
  setView({ filter: { ...NO_FILTER, text: familyOf(name), with_mtp: true }, spotlight: about.get });
  return searchModels();
};

/** Closes what is known of a repository, and with it why its model could not be got. */
export function closeDetails(): void {
  const { details, libraryError } = state();
  const told = details !== null && libraryError?.about === about.details(details.repo);
  setView({ details: null, ...(told && { libraryError: null }) });
}

/** Begins a download; its row in the queue comes into view for whoever waits for it. */
export async function downloadModel(repo: string, conversion: ConversionChoice): Promise<void> {
  const subject = about.details(repo);
  const { details: sheet, screen, chat } = state();
  const begun = await attempt(subject, async () => {
    const lead = leadOn();
    const job = await shell.downloadModel(repo, conversion);
    const { details } = state();
    // Whoever looks at another one by now stays there.
    if (details !== null && details.repo !== repo) return;
    setView({ details: null });
    lead(about.job(job));
  });
  const now = state();
  const stayed = sheet === now.details && (sheet !== null || (screen === now.screen && chat === now.chat));
  if (begun || stayed || now.libraryError?.about !== subject) return;
  // Where it was begun is not shown any more, and with it would go why nothing came of it.
  setView({ libraryError: null });
  noteReport(now.libraryError.report);
}

/** Begins the download of a draft model, which stays as it is published. */
export const getDraftModel = (repo: string, subject: string) =>
  attempt(subject, () => shell.downloadModel(repo, AS_IS));

export const convertModel = (path: string, conversion: ConversionChoice) =>
  attempt(about.model(path), async () => {
    const lead = leadOn();
    lead(about.job(await shell.convertModel(path, conversion)));
  });

/** What a model can be converted to by quality; null while that is not measured, or not known. */
export const qualityOffer = (path: string): Promise<KeptOffer | null> =>
  shell.qualityOffer(path).catch((error) => {
    fail(about.text(path), reportOf(error));
    return null;
  });

/** Lets the person choose a text to measure on; null if they did not. */
export async function chooseMeasuredText(path: string): Promise<string | null> {
  let text: string | null = null;
  await attempt(about.text(path), async () => {
    text = await shell.chooseMeasuredText();
  });
  return text;
}

/** Begins to measure what the parts of a model cost, on a text that was chosen or on those of the program. */
export const measureQuality = (path: string, text: string | null) =>
  attempt(about.model(path), async () => {
    const lead = leadOn();
    lead(about.job(await shell.measureQuality(path, text)));
  });

/** Begins to measure how close a model is to the one that it was made from. */
export const compareWithOriginal = (path: string, original: string) =>
  attempt(about.model(path), async () => {
    const lead = leadOn();
    lead(about.job(await shell.compareWithOriginal(path, original)));
  });

export const tuneModel = (path: string) =>
  attempt(about.model(path), async () => {
    const lead = leadOn();
    lead(about.job(await shell.tuneModel(path)));
  });

/** Loads a model and goes to the chat, unless the person went elsewhere in the meantime. */
export const loadModel = (path: string, subject = about.model(path)) =>
  attempt(subject, async () => {
    const listed = state().models.some((entry) => entry.path === path);
    await (listed ? shell.selectModel(path) : shell.openModel(path));
    if (state().screen === "models") setView({ screen: "chat", modelError: null });
  });

/** Loads a model over several Macs and goes to the chat, unless the person went elsewhere in the meantime. */
export const loadOverMacs = (path: string) => loadBy(path, () => shell.loadSpread(path, null));

/** The same on this Mac alone, also whenever it is loaded from now on. */
export const loadAlone = (path: string) => loadBy(path, () => shell.loadAlone(path));

const loadBy = (path: string, load: () => Promise<unknown>) =>
  attempt(about.model(path), async () => {
    await load();
    if (state().screen === "models") setView({ screen: "chat", modelError: null });
  });

export const deleteModel = (path: string) =>
  attempt(about.model(path), async () => {
    await shell.deleteModel(path);
    setView({ spotlight: about.deleted(path) });
  });

/** Deletes a model and its draft model. Each can be brought back. */
export const deleteWithDraftModel = (path: string, draft: string) =>
  attempt(about.model(path), async () => {
    await shell.deleteModel(path);
    setView({ spotlight: about.deleted(path) });
    await shell.deleteModel(draft);
  });

/** Takes a folder that was opened off the list. The folder stays as it is. */
export const forgetModel = (path: string) =>
  attempt(about.model(path), async () => {
    await shell.deleteModel(path);
    setView({ spotlight: about.here });
  });

export const restoreModel = (path: string) =>
  attempt(about.deleted(path), async () => {
    await shell.restoreModel(path);
    setView({ spotlight: about.model(path) });
  });

export const reveal = (path: string, subject = about.model(path)) =>
  attempt(subject, () => shell.reveal(path));

/** Adds the models in folders, which are used where they are. The first that cannot be added ends it. */
export function addModels(paths: string[]): Promise<boolean> {
  setView({ details: null });
  openModels();
  return attempt(about.add, async () => {
    for (const path of paths) setView({ spotlight: about.model(await shell.importModel(path)) });
  });
}

export const chooseAndAdd = () =>
  attempt(about.add, async () => {
    const path = await shell.chooseModelFolder();
    if (path !== null) await addModels([path]);
  });

/** Lets the person choose another folder for the library, and asks, where the library is, whether to move it there. */
export const chooseLibraryFolder = () =>
  attempt(about.place, async () => {
    const libraryTarget = await shell.chooseLibraryFolder();
    setView(libraryTarget === null ? { libraryTarget } : { libraryTarget, spotlight: about.place });
  });

export const moveLibrary = (path: string) => attempt(about.place, () => shell.moveLibrary(path));

export const setHubToken = (token: string | null) => attempt(about.token, () => shell.setHubToken(token));

/** Chooses a part of how the Hub is reached; empty is the usual way. */
export const setHub = (part: keyof HubSettings, text: string) =>
  attempt(about.hub(part), () => {
    const { address = "", proxy = "", cache = "" } = state().library?.hub.settings ?? {};
    return shell.setHub({ address, proxy, cache, [part]: text });
  });

/** Does with a job what one of its buttons says. */
export function doStep(job: number, step: Exclude<Step, "use">): Promise<boolean> {
  return attempt(about.job(job), () => (step === "pause" ? shell.pauseJob(job) : shell.resumeJob(job)));
}

export const cancelJob = (job: number) => attempt(about.job(job), () => shell.cancelJob(job));

export const moveJob = (job: number, position: number) =>
  attempt(about.job(job), () => shell.moveJob(job, position));
