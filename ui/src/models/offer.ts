import type { Fit, Job, LibrarySnapshot, LocalModel, MachineName, RemoteModel } from "../bridge/bindings";
import { t } from "../language/text";
import { memory } from "../primitives/format";
import { isOpen, isRunning, isStalled, whereabouts } from "./jobs";

/** What to say to whoever has no model to work with yet. */
export type Offer =
  /** It is not known yet what there is. */
  | { kind: "waiting" }
  /** A model is on its way, or would be if somebody let it go on. */
  | { kind: "coming"; job: Job }
  /** A model is here, and is not used yet. */
  | { kind: "here"; model: LocalModel }
  /** A model is to be got. */
  | { kind: "get"; model: RemoteModel }
  /** Nothing tells what runs here. */
  | { kind: "none" };

const runs = (fit: Fit | null): boolean => fit?.verdict === "fits_well" || fit?.verdict === "tight";

/** A list is compared by what comes first, the highest first. */
function byMost<T>(...of: ((one: T) => number)[]): (a: T, b: T) => number {
  return (a, b) => of.map((number) => number(b) - number(a)).find((order) => order !== 0) ?? 0;
}

/**
 * The model to get: the recommended one, or else the largest of those that fit well, or of those that just fit. Null
 * where none runs that is not here already.
 */
export function modelToGet(models: RemoteModel[], library: LibrarySnapshot): RemoteModel | null {
  const [best = null] = models
    .filter((model) => runs(model.fit) && whereabouts(model, library).local === null)
    .toSorted(
      byMost(
        ({ recommended }) => Number(recommended),
        ({ fit }) => Number(fit?.verdict === "fits_well"),
        ({ parameters }) => parameters ?? 0,
      ),
    );
  return best;
}

/** Whether a model can be used now and has the memory to run. */
const isUsable = ({ state, fit }: LocalModel): boolean =>
  state.state === "ready" && fit?.verdict !== "too_big";

/** The model to use of those that a person got or added: the one that answered last, or else the largest. */
function modelHere({ models }: LibrarySnapshot): LocalModel | null {
  const [best = null] = models
    .filter((model) => (model.origin === "library" || model.origin === "folder") && isUsable(model))
    .toSorted(
      byMost(
        ({ last_used }) => last_used ?? 0,
        ({ parameters }) => parameters ?? 0,
      ),
    );
  return best;
}

/** The models that are on their way, whether they go on or not. A draft model is none. */
function modelsComing({ jobs, models }: LibrarySnapshot): Job[] {
  const drafts = models.map(({ draft_model_offer: offer }) => offer?.repo);
  return jobs.filter((job) => job.repo !== null && isOpen(job) && !drafts.includes(job.repo));
}

/**
 * What to offer: a model that comes by itself, one that is here, one that has stopped on its way, or one to get.
 * `catalogue` and `library` are null while they are asked for, and "none" where that failed.
 */
export function offerOf(
  catalogue: RemoteModel[] | "none" | null,
  library: LibrarySnapshot | "none" | null,
): Offer {
  if (library === null) return { kind: "waiting" };
  if (library === "none") return { kind: "none" };
  const coming = modelsComing(library);
  const job = coming.find(isRunning) ?? coming.find((one) => !isStalled(one));
  if (job) return { kind: "coming", job };
  const here = modelHere(library);
  if (here) return { kind: "here", model: here };
  const [stalled] = coming;
  if (stalled) return { kind: "coming", job: stalled };
  if (catalogue === null) return { kind: "waiting" };
  const model = catalogue === "none" ? null : modelToGet(catalogue, library);
  return model ? { kind: "get", model } : { kind: "none" };
}

const inStudio = ({ origin }: LocalModel): boolean => origin === "lm_studio";
const inCache = ({ origin }: LocalModel): boolean => origin === "hugging_face_cache";

/** The models of other programs that can be used where they are; none where a person has models of their own. */
export function modelsElsewhere(library: LibrarySnapshot): LocalModel[] {
  if (modelHere(library) !== null) return [];
  return library.models.filter((model) => (inStudio(model) || inCache(model)) && isUsable(model));
}

/** `2 models in LM Studio’s folder, 1 in the Hugging Face cache`; of a single one, its name. */
export function elsewhereLabel(models: LocalModel[]): string {
  const [studio, cache] = [models.filter(inStudio).length, models.filter(inCache).length];
  const [first] = models;
  if (first && models.length === 1)
    return t(studio > 0 ? "model-elsewhere-one-studio" : "model-elsewhere-one-cache", { name: first.name });
  if (cache === 0) return t("model-elsewhere-studio", { models: studio });
  return studio === 0
    ? t("model-elsewhere-cache", { models: cache })
    : t("model-elsewhere-both", { studio, cache });
}

/** `For this Mac, an M4 Max with 64 GB:`, as far as the system says what the machine is. */
export function forMachine(machine: MachineName | null): string {
  const chip = machine?.chip.replace(/^Apple /, "") ?? "";
  const ram = machine !== null && machine.ram_bytes > 0 ? memory(machine.ram_bytes) : "";
  if (chip === "")
    return ram === "" ? t("model-for-machine") : t("model-for-machine.memory", { memory: ram });
  const sound = /^(?:[AEIOUaeiou]|[FHLMNRSX][A-Z\d])/.test(chip) ? "vowel" : "consonant";
  return ram === ""
    ? t("model-for-machine.chip", { chip, sound })
    : t("model-for-machine.both", { chip, sound, memory: ram });
}
