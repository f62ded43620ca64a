import type {
  Fit,
  Job,
  LibrarySnapshot,
  LocalModel,
  MachineName,
  ModelOrigin,
  RemoteModel,
} from "../bridge/bindings";
import { HERE } from "../primitives/platform";
import { isOpen, isRunning, isStalled, whereabouts } from "./jobs";
import { machineLabel } from "./labels";

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

/** Where other programs keep their models, in the words of whoever has them. */
const PLACES: [ModelOrigin, string][] = [
  ["lm_studio", "in LM Studio’s folder"],
  ["hugging_face_cache", "in the Hugging Face cache"],
];

/** The models of other programs that can be used where they are; none where a person has models of their own. */
export function modelsElsewhere(library: LibrarySnapshot): LocalModel[] {
  if (modelHere(library) !== null) return [];
  return library.models.filter(
    (model) => PLACES.some(([origin]) => origin === model.origin) && isUsable(model),
  );
}

/** `2 models in LM Studio’s folder, 1 in the Hugging Face cache`; of a single one, its name. */
export function elsewhereLabel(models: LocalModel[]): string {
  const [first] = models;
  const parts = PLACES.map(([origin, where]) => {
    const count = models.filter((model) => model.origin === origin).length;
    return { count, where };
  }).filter(({ count }) => count > 0);
  if (first && models.length === 1) return `${first.name} ${parts[0]?.where}`;
  return parts
    .map(({ count, where }, place) => {
      const what = place > 0 ? "" : count === 1 ? "model " : "models ";
      return `${count} ${what}${where}`;
    })
    .join(", ");
}

/** `For this Mac, an M4 Max with 64 GB:` */
export function forMachine(machine: MachineName | null): string {
  const what = machine ? machineLabel(machine) : "";
  return what === "" ? `For ${HERE}:` : `For ${HERE}, ${what}:`;
}
