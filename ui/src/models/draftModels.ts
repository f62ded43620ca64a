import type { DraftModelOffer, LibrarySnapshot, LocalDraftModel, LocalModel } from "../bridge/bindings";
import { t } from "../language/text";
import { bytes, commas, percent } from "../primitives/format";
import { isOpen, share } from "./jobs";
import { downloadProblem, keepReason, stageLabel } from "./labels";

export const NO_DRAFT_MODELS: LocalDraftModel[] = [];

/** The draft models that belong to the model in a folder. */
export const draftModelsOf = (all: LocalDraftModel[], path: string): LocalDraftModel[] =>
  all.filter(({ targets }) => targets.includes(path));

/** The draft model that would be of no use without a model, and can be deleted with it; null if there is none. */
export function deletedWith(all: LocalDraftModel[], model: LocalModel): LocalDraftModel | null {
  const draft = all.find(({ path }) => path === model.draft_model);
  if (draft === undefined || draft.targets.some((target) => target !== model.path)) return null;
  return draft.origin === "library" && keepReason(draft.origin, false) === null ? draft : null;
}

/** What its download takes; null where only the Hub says it. */
export const offerSize = ({ download_bytes: size }: DraftModelOffer): string | null =>
  size === null ? null : t("model-draft-size", { size: bytes(size) });

/** How far the download of a draft model is, in words; or why it cannot be begun, null if it can. */
export function offerState(
  offer: DraftModelOffer,
  library: LibrarySnapshot | null,
): { words: string | null; reason: string | null } {
  const job = library?.jobs.find((job) => job.repo === offer.repo && isOpen(job));
  if (job) {
    const part = share(job);
    return { words: commas([stageLabel(job.stage), part !== null && percent(part)]), reason: null };
  }
  return { words: null, reason: library && downloadProblem(offer, library) };
}
