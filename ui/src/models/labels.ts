import type {
  ConversionChoice,
  DraftFigures,
  DraftVocabularyFigures,
  Fit,
  Hold,
  Job,
  JobStage,
  LibrarySnapshot,
  LocalDraftModel,
  LocalModel,
  MachineName,
  ModelOrigin,
  MtpState,
  RemoteModel,
  Sight,
  Tuning,
} from "../bridge/bindings";
import {
  bytes,
  calendarDay,
  count,
  formatLabel,
  memory,
  mtpHeadLabel,
  parameters,
  percent,
  rate,
} from "../primitives/format";
import { HERE } from "../primitives/platform";
import { share } from "./jobs";

/** What stands in one line. */
export const line = (...parts: (string | null | false)[]): string => parts.filter(Boolean).join(" · ");

const GB = 1e9;

/** Whether a model runs here, with the numbers where it does not. */
export function fitLabel({ verdict, need_bytes: need, available_bytes: available }: Fit): string {
  switch (verdict) {
    case "fits_well":
      return "Fits well";
    case "tight":
      return "Tight";
    case "too_big": {
      let [needs, gives] = [`${rate(need / GB)} GB`, `${rate(available / GB)} GB`];
      if (needs === gives) [needs, gives] = [bytes(need), bytes(available)];
      return `Too big: needs ${needs}, ${HERE} gives ${gives}`;
    }
  }
}

/** What a model needs that does not run here, and how much of it is missing. */
export const missingLabel = ({ need_bytes: need, available_bytes: available }: Fit): string =>
  `Needs ${bytes(need)}: ${bytes(need - available)} more than ${HERE} gives`;

/** How a fit is told in a line of facts; null where there is nothing to mind, or a line of its own says it. */
const fitFact = (fit: Fit | null): string | null => (fit?.verdict === "tight" ? "tight" : null);

/** `16k`. */
export const thousands = (tokens: number): string => `${Math.round(tokens / 1024)}k`;

/** What a chat of so many tokens holds. */
export function chatLabel(tokens: number): string {
  if (tokens <= 4096) return "A few questions and answers";
  if (tokens <= 16_384) return "A long chat, or a document";
  if (tokens <= 32_768) return "Several documents";
  if (tokens <= 65_536) return "A short book";
  if (tokens <= 131_072) return "A book";
  return "As long as models allow";
}

/** The verdict alone. */
export const verdictLabel = (fit: Fit): string => fitLabel(fit).split(":")[0] ?? "";

/** What a verdict means, in a sentence. */
export function fitSentence(fit: Fit): string {
  const need = `It needs ${bytes(fit.need_bytes)} for a context of ${fit.context.toLocaleString("en")} tokens`;
  const gives = `${HERE} can give ${bytes(fit.available_bytes)}`;
  switch (fit.verdict) {
    case "fits_well":
      return `${need}, and ${gives}.`;
    case "tight":
      return `${need}, and ${gives}. Close other large apps while you use it.`;
    case "too_big":
      return `${need}, but ${gives}.`;
  }
}

/** The MTP head of a model that is here. */
export function mtpBadge(mtp: MtpState): string {
  switch (mtp.state) {
    case "present":
      return mtpHeadLabel(mtp);
    case "stripped":
      return "MTP head: declared but stripped";
    case "unusable":
      return "MTP head: there, but it cannot be used";
    case "absent":
      return "MTP head: none";
  }
}

/** How far somebody guesses. */
const guessesLabel = (most: number): string => `guesses up to ${most} ahead`;

/** How far a model guesses ahead with its head at most, as the engine does. */
const MOST_HEAD_GUESSES = 3;

/** Whether a model sees pictures. */
const SIGHTS: Record<Sight, string | null> = {
  none: null,
  sees: "sees pictures",
  no_memory: "no memory left to see pictures",
};

/** What a model that is here is, in one line. */
export const localFacts = ({ format, disk_bytes: size, mtp, sight, fit, state }: LocalModel): string =>
  line(
    format && formatLabel(format),
    bytes(size),
    mtp && (mtp.state === "present" ? `${guessesLabel(MOST_HEAD_GUESSES)} (MTP head)` : "no MTP head"),
    SIGHTS[sight],
    state.state === "ready" && fitFact(fit),
  );

/** Whether a model of the Hub sees; of one that does not run here it does not matter how much is left. */
export const remoteSight = ({ sight, fit }: Pick<RemoteModel, "sight" | "fit">): string | null =>
  SIGHTS[sight === "no_memory" && fit?.verdict === "too_big" ? "sees" : sight];

/** `15.1 GB`; of what is converted after its download also what is left, `55.6 GB, 15.4 GB as 4-bit`. */
function downloadSize({ kind, parameters: count, download_bytes: size }: Omit<RemoteModel, "summary">) {
  if (size === null) return null;
  const converted = kind === "raw" && count !== null ? `, ${bytes(convertedBytes(count, 4))} as 4-bit` : "";
  return `${bytes(size)}${converted}`;
}

/** What is got with a model of the Hub, in a few words. */
export const downloadFacts = (model: RemoteModel): string =>
  line(
    model.kind === "converted" && model.format && formatLabel(model.format),
    downloadSize(model),
    fitFact(model.fit),
  );

/** What a model of the Hub is, in one line. */
export function remoteFacts({ summary, ...model }: RemoteModel): string {
  const { kind, parameters: count, format, mtp, fit } = model;
  const sees = remoteSight(model);
  const sized = downloadSize(model);
  const form = format && formatLabel(format);
  const quantized = kind === "converted" && form;
  if (model.recommended && fit) {
    const spare = bytes(fit.available_bytes - fit.need_bytes);
    return line(`The most able that fits well, with ${spare} to spare`, sees, quantized, sized);
  }
  const verdict = fit ? fitLabel(fit).toLowerCase() : "fit not known";
  if (summary !== "") return line(summary, sees, quantized, sized, verdict);
  const head = mtp === null ? "MTP head not known" : mtp ? "with MTP head" : "no MTP head";
  return line(parameterLabel(count, model.active_parameters), form, sized, verdict, head, sees);
}

/** The same in a word or two. */
const mtpStateLabel = (mtp: MtpState): string =>
  ({ present: "MTP", stripped: "MTP stripped", unusable: "MTP unusable", absent: "no MTP" })[mtp.state];

/** Whether a model of the Hub brings its head. */
export const remoteMtp = (mtp: boolean | null): string =>
  mtp === null ? "MTP head not known" : mtp ? "With MTP head" : "No MTP head";

/** `null` where the licence is not known here: what is not known is left out, not denied. */
export const licenceLabel = (licence: string | null): string | null =>
  licence === null ? null : `${licence} licence`;

/** How many parameters, and how many of them take part in one token. */
export function parameterLabel(all: number | null, active: number | null): string | null {
  if (all === null) return null;
  return active === null || active >= all
    ? parameters(all)
    : `${parameters(all)}, ${parameters(active).replace(" parameters", "")} active`;
}

/** The number of drafts that pays, and how much. */
export function tuningLabel(tuning: Tuning): string {
  const { tokens_per_second: speeds, best_depth: best, draft_vocabulary: vocabulary } = tuning;
  const [plain] = speeds;
  const speed = speeds[best];
  if (speed === undefined || plain === undefined) return "Measured";
  if (best === 0) return `Fastest without drafts: ${rate(speed)} tok/s. Nothing beats plain decoding here.`;
  const gain = plain > 0 ? `, ${(speed / plain).toFixed(1)}× plain` : "";
  const fastest = `Fastest with ${best === 1 ? "1 draft" : `${best} drafts`} ahead: ${rate(speed)} tok/s${gain}`;
  return vocabulary?.kept ? `${fastest}. ${vocabularyLabel(vocabulary)}` : fastest;
}

/** What drafts from the most frequent words alone gain, and what they miss. */
function vocabularyLabel({ vocabulary, tokens, before, after }: DraftVocabularyFigures): string {
  const faster = percent(1 - after.draft_milliseconds / before.draft_milliseconds);
  const first = ({ positions: [first] }: DraftFigures) =>
    percent((first?.accepted ?? 0) / (first?.drafted || 1));
  const words = `the ${count(tokens)} most frequent of ${count(vocabulary)} tokens`;
  return `Drafts come from ${words}: ${faster} quicker, ${first(after)} accepted instead of ${first(before)}`;
}

/** When a model last answered. */
export function usedLabel(time: number | null, now: number): string {
  if (time === null) return "Not used yet";
  const day = calendarDay(time, now);
  if (day !== "earlier") return `Used ${day}`;
  const date = new Date(time);
  const sameYear = date.getFullYear() === new Date(now).getFullYear();
  const year = sameYear ? {} : { year: "numeric" as const };
  return `Used ${date.toLocaleDateString("en-GB", { day: "numeric", month: "long", ...year })}`;
}

/** Why a model is not there now, and what brings it back. */
export const offlineLabel = (origin: ModelOrigin, path: string): string =>
  origin === "library"
    ? "Offline: it comes back when the library's disk is connected"
    : `Offline: connect the disk that has ${path}`;

/** Where systems put the disks that are connected; the next part of a path is the disk's name. */
const DISKS = /^(?:\/Volumes|\/media\/[^/]+|\/run\/media\/[^/]+|\/mnt)\/([^/]+)/;

/** That the disk with the library, whose folder is `path`, is away. */
export function awayLabel(path: string): string {
  const disk = DISKS.exec(path)?.[1];
  return disk === undefined ? "The library’s disk is not connected" : `“${disk}” is not connected`;
}

/** Which models are away with the library's disk, and what brings them back. */
export function comesBackLabel(models: LocalModel[]): string {
  const away = models.filter(({ origin, state }) => origin === "library" && state.state === "offline").length;
  if (away === 0) return "The library is on it, and comes back with the disk.";
  return away === 1
    ? "1 model is on it. It comes back with the disk."
    : `${away} models are on it. They come back with the disk.`;
}

/** Why a model cannot be deleted, or taken off the list; null if it can. */
export function keepReason(origin: ModelOrigin, inUse: boolean): string | null {
  switch (origin) {
    case "library":
    case "folder":
      return inUse ? "It is in use" : null;
    case "built_in":
      return "It is part of the app";
    case "hugging_face_cache":
      return "It belongs to the Hugging Face cache";
    case "lm_studio":
      return "It belongs to LM Studio";
  }
}

/** What a draft model is. */
export const draftModelLabel = (draft: LocalDraftModel): string =>
  line(
    bytes(draft.disk_bytes),
    draft.format && formatLabel(draft.format),
    draft.most_guesses !== null && guessesLabel(draft.most_guesses),
    draft.made_for && `made for ${draft.made_for}`,
  );

/** What a model in the picker is, in words. */
export function choiceLabel({ origin, state, format, mtp, fit }: LocalModel): string {
  if (state.state === "offline") return "Its disk is not connected";
  if (state.state === "broken") return "It cannot be loaded";
  const builtIn = origin === "built_in" && "Came with the app";
  return line(
    builtIn,
    format && formatLabel(format),
    mtp && mtpStateLabel(mtp),
    fit && verdictLabel(fit).toLowerCase(),
  );
}

/** What a job is doing. */
export function stageLabel(stage: JobStage): string {
  switch (stage.stage) {
    case "queued":
      return "Waiting its turn";
    case "held":
      return stage.by.hold === "chat" ? "Waiting for the chat" : "Waiting for memory";
    case "downloading":
      return "Downloading";
    case "paused":
      return "Paused";
    case "waiting":
      return "No connection";
    case "verifying":
      return "Checking the files";
    case "probing":
      return "Measuring what each part costs";
    case "converting":
      return "Converting";
    case "comparing":
      return "Comparing with the original";
    case "tuning":
      return "Measuring its speed";
    case "moving":
      return "Moving";
    case "failed":
      return "Stopped";
    case "done":
      return "Ready";
  }
}

/** What a job is doing, or that it has done. */
export function stateLabel({ kind, stage }: Job): string {
  if (stage.stage !== "done") return stageLabel(stage);
  if (kind === "comparison") return "Compared";
  return kind === "probe" ? "Measured" : stageLabel(stage);
}

/** What holds a measurement up, and when it goes on. */
export function holdSentence(by: Hold): string {
  if (by.hold === "chat")
    return "The speed is measured as soon as no reply is being written and no model is being loaded.";
  const need = `Together with the loaded model it needs ${bytes(by.need_bytes)}, and ${HERE} can give ${bytes(by.available_bytes)}`;
  return `${need}. Choose a smaller model for the chat, and it goes on by itself.`;
}

/** What comes after what a job does now, as a line goes on; empty where nothing does. */
export function thenLabel({ kind, stage: { stage }, followed_by: following }: Job): string {
  if (stage === "failed" || stage === "done") return "";
  const words = {
    download: "downloaded",
    probe: "measured",
    comparison: "compared",
    conversion: "converted",
    measurement: "measured",
    benchmark: "measured",
    move: "moved",
  };
  const rest = following.map((next) => words[next]);
  const all = kind === "download" && stage !== "verifying" ? ["checked", ...rest] : rest;
  if (all.length === 0) return "";
  const last = all.at(-1);
  return `then ${all.length === 1 ? last : `${all.slice(0, -1).join(", ")} and ${last}`}`;
}

/** `12.4 of 55.6 GB`, both in the unit of the whole. */
export function progressBytes(done: number, total: number): string {
  if (total <= 0) return bytes(done);
  const whole = bytes(total);
  const [, unit] = whole.split(" ");
  const scale = { TB: 1e12, GB: 1e9, MB: 1e6 }[unit ?? ""] ?? 1e3;
  const digits = /\.\d/.test(whole) ? 1 : 0;
  return `${(done / scale).toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits })} of ${whole}`;
}

/** How long it still takes. */
export function timeLeft(seconds: number): string {
  const minutes = Math.round(seconds / 60);
  if (seconds < 10) return "a few seconds left";
  if (seconds < 60) return `${Math.ceil(seconds / 5) * 5} s left`;
  if (minutes < 60) return minutes === 1 ? "1 minute left" : `${minutes} minutes left`;
  if (minutes < 24 * 60) return `${Math.floor(minutes / 60)} h ${minutes % 60} min left`;
  return "more than a day left";
}

/** What a job has done, how fast, and how long it still takes: each empty where it does not apply. */
export function jobNumbers(job: Job): { amount: string; speed: string; left: string } {
  const { kind, stage, done, total, bytes_per_second: speed, seconds_left: left } = job;
  const inSteps = ["probing", "comparing", "tuning"].includes(stage.stage);
  const running = inSteps || ["downloading", "verifying", "converting", "moving"].includes(stage.stage);
  const part = share(job);
  // What stands still may have stood at a stage that is counted in steps.
  const inBytes = running ? !inSteps : kind === "download" || kind === "move";
  return {
    amount: inBytes
      ? total === 0
        ? ""
        : done === 0
          ? bytes(total)
          : progressBytes(done, total)
      : part === null
        ? ""
        : percent(part),
    speed: running && inBytes && speed !== null ? `${bytes(speed)}/s` : "",
    left: running && left !== null ? timeLeft(left) : "",
  };
}

/** The weights of a model after a conversion, in bytes: each group of 64 weights has a scale and a bias of 16 bits. */
export function convertedBytes(count: number, bits: number): number {
  return (count * (bits + 0.5)) / 8;
}

/** What follows the download of `remote`, in a few sentences. */
export function afterwards(remote: RemoteModel, { weights, keep_raw: keep }: ConversionChoice): string {
  if (remote.kind === "converted") return "The files are checked, then its speed is measured.";
  if (weights.kind !== "bits")
    return "The files are checked and stay as they are published, then the speed is measured.";
  const { bits } = weights;
  const size =
    remote.parameters === null ? "" : ` and takes about ${bytes(convertedBytes(remote.parameters, bits))}`;
  const raw = keep ? "The original files stay too." : "The original files are then removed.";
  const first = `The files are checked, the model is converted to ${bits}-bit${size}, and its speed is measured.`;
  return `${first} ${raw}`;
}

/** What to know about the disk before a conversion, which needs room for both; null if there is enough. */
export function spaceWarning(
  remote: RemoteModel,
  { weights }: ConversionChoice,
  free: number,
): string | null {
  const { download_bytes: size, parameters: count } = remote;
  if (weights.kind !== "bits" || size === null || count === null) return null;
  const missing = size + convertedBytes(count, weights.bits) - free;
  return missing > 0 ? `The conversion will need about ${bytes(missing)} more than is free.` : null;
}

/** Why a download does not fit on the disk; null if it does, or nothing tells. */
export function spaceProblem(
  { download_bytes: size }: { download_bytes: number | null },
  free: number,
): string | null {
  if (size === null || size <= free) return null;
  return `The download takes ${bytes(size)}, and ${bytes(free)} is free. Free some space, or move the library.`;
}

/** Why a model cannot be downloaded now; null if it can. */
export const downloadProblem = (
  model: { download_bytes: number | null },
  { place }: LibrarySnapshot,
): string | null =>
  place.online ? spaceProblem(model, place.free_bytes) : "The library's disk is not connected.";

/** The machine, as far as models mind: `an M4 Max with 64 GB`; empty where the system does not say. */
export function machineLabel({ chip, ram_bytes: ram }: MachineName): string {
  const name = chip.replace(/^Apple /, "");
  const article = /^(?:[AEIOUaeiou]|[FHLMNRSX][A-Z\d])/.test(name) ? "an" : "a";
  return [name && `${article} ${name}`, ram > 0 && `with ${memory(ram)}`].filter(Boolean).join(" ");
}
