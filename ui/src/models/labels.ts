import type {
  ConversionChoice,
  DraftFigures,
  DraftVocabularyFigures,
  Fit,
  Hold,
  Job,
  JobKind,
  JobStage,
  LibrarySnapshot,
  LocalDraftModel,
  LocalModel,
  ModelInfo,
  ModelNote,
  ModelOrigin,
  MtpState,
  RemoteModel,
  Sight,
  Tuning,
} from "../bridge/bindings";
import { locale, t } from "../language/text";
import { why } from "../language/told";
import {
  bytes,
  calendarDay,
  formatLabel,
  mtpHeadLabel,
  parameterCount,
  parameters,
  percent,
  perPass,
  rate,
  writtenBy,
} from "../primitives/format";
import { share } from "./jobs";

/** What stands in one line. */
export const line = (...parts: (string | null | false)[]): string => parts.filter(Boolean).join(" · ");

const GB = 1e9;

/** Whether a model runs here, in a line of facts, with the numbers where it does not. */
export function fitLabel(fit: Fit): string {
  const { verdict, need_bytes: need, available_bytes: available } = fit;
  if (verdict !== "too_big") return verdictFact(fit);
  let [needs, gives] = [`${rate(need / GB)} GB`, `${rate(available / GB)} GB`];
  if (needs === gives) [needs, gives] = [bytes(need), bytes(available)];
  return t("model-fit-too-big.numbers", { needs, gives });
}

/** What a model needs that does not run here, and how much of it is missing. */
export const missingLabel = ({ need_bytes: need, available_bytes: available }: Fit): string =>
  t("model-missing", { need: bytes(need), missing: bytes(need - available) });

/** How a fit is told in a line of facts; null where there is nothing to mind, or a line of its own says it. */
const fitFact = (fit: Fit | null): string | null => (fit?.verdict === "tight" ? verdictFact(fit) : null);

/** `16k`. */
export const thousands = (tokens: number): string => `${Math.round(tokens / 1024)}k`;

/** What a chat of so many tokens holds. */
export function chatLabel(tokens: number): string {
  if (tokens <= 4096) return t("model-chat-questions");
  if (tokens <= 16_384) return t("model-chat-document");
  if (tokens <= 32_768) return t("model-chat-documents");
  if (tokens <= 65_536) return t("model-chat-short-book");
  if (tokens <= 131_072) return t("model-chat-book");
  return t("model-chat-longest");
}

/** The verdict alone. */
export function verdictLabel({ verdict }: Fit): string {
  switch (verdict) {
    case "fits_well":
      return t("model-fit-well");
    case "tight":
      return t("model-fit-tight");
    case "too_big":
      return t("model-fit-too-big");
  }
}

/** The verdict alone, in a line of facts. */
function verdictFact({ verdict }: Fit): string {
  switch (verdict) {
    case "fits_well":
      return t("model-fit-well.fact");
    case "tight":
      return t("model-fit-tight.fact");
    case "too_big":
      return t("model-fit-too-big.fact");
  }
}

/** What a verdict means, in a sentence. */
export function fitSentence({ verdict, need_bytes, available_bytes, context }: Fit): string {
  const numbers = { need: bytes(need_bytes), context, available: bytes(available_bytes) };
  switch (verdict) {
    case "fits_well":
      return t("model-fit-well.sentence", numbers);
    case "tight":
      return t("model-fit-tight.sentence", numbers);
    case "too_big":
      return t("model-fit-too-big.sentence", numbers);
  }
}

/** The MTP head of a model that is here. */
export function mtpBadge(mtp: MtpState): string {
  switch (mtp.state) {
    case "present":
      return mtpHeadLabel(mtp);
    case "stripped":
      return t("model-head-stripped");
    case "unusable":
      return t("model-head-unusable");
    case "absent":
      return t("model-head-absent");
  }
}

/** How far a model guesses ahead with its head at most, as the engine does. */
const MOST_HEAD_GUESSES = 3;

/** Why a model goes without the draft model that was to be loaded with it; null where nothing stood in the way. */
export const draftRefusal = ({ draft_model_refused: error }: ModelInfo): string | null =>
  error && t("models-draft-refused", { reason: why(error) });

/** What is odd about a model though it is loaded. */
export function modelNoteLabel(note: ModelNote): string {
  switch (note.kind) {
    case "tied_head":
      return t("models-note-tied-head");
    case "no_part":
      return t("models-note-no-part", { file: note.file });
    case "undeclared":
      return t("models-note-undeclared", { format: note.format });
    case "draft_vocabulary":
      return t("models-note-draft-vocabulary", { file: note.file });
    case "head_unused":
      return t("models-note-head-unused", { reason: why(note.error) });
    case "head_missing":
      return t("models-note-head-missing", { file: note.file });
    case "second_head":
      return t(note.in_main_files ? "models-note-second-head.main" : "models-note-second-head", {
        file: note.file,
      });
    case "head_file_unused":
      return t("models-note-head-file-unused", { file: note.file, reason: why(note.error) });
    case "head_norms_assumed":
      return t("models-note-head-norms");
    case "head_undeclared":
      return t("models-note-head-undeclared");
    case "head_stripped":
      return t("models-note-head-stripped");
    case "draft_target":
      return t("models-note-draft-target", { told: note.told, layers: note.layers });
  }
}

/** Whether a model sees pictures. */
function sightLabel(sight: Sight): string | null {
  switch (sight) {
    case "none":
      return null;
    case "sees":
      return t("model-sees");
    case "no_memory":
      return t("model-sees-no-memory");
  }
}

/** What a model that is here is, in one line. */
export const localFacts = ({ format, disk_bytes: size, mtp, sight, fit, state }: LocalModel): string =>
  line(
    format && formatLabel(format),
    bytes(size),
    mtp &&
      (mtp.state === "present"
        ? t("model-guesses-head", { most: MOST_HEAD_GUESSES })
        : t("model-head-none.fact")),
    sightLabel(sight),
    state.state === "ready" && fitFact(fit),
  );

/** Whether a model of the Hub sees; of one that does not run here it does not matter how much is left. */
export const remoteSight = ({ sight, fit }: Pick<RemoteModel, "sight" | "fit">): string | null =>
  sightLabel(sight === "no_memory" && fit?.verdict === "too_big" ? "sees" : sight);

/** `15.1 GB`; of what is converted after its download also what is left, `55.6 GB, 15.4 GB as 4-bit`. */
function downloadSize({ kind, parameters: count, download_bytes: size }: Omit<RemoteModel, "summary">) {
  if (size === null) return null;
  if (kind !== "raw" || count === null) return bytes(size);
  return t("model-download-converted", { size: bytes(size), converted: bytes(convertedBytes(count, 4)) });
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
    return line(t("model-recommended", { spare }), sees, quantized, sized);
  }
  const verdict = fit ? fitLabel(fit) : t("model-fit-unknown");
  if (summary !== "") return line(summary, sees, quantized, sized, verdict);
  const head = t(mtp === null ? "model-head-unknown" : mtp ? "model-head-with.fact" : "model-head-none.fact");
  return line(parameterLabel(count, model.active_parameters), form, sized, verdict, head, sees);
}

/** The same in a word or two. */
function mtpStateLabel({ state }: MtpState): string {
  switch (state) {
    case "present":
      return "MTP";
    case "stripped":
      return t("model-mtp-stripped");
    case "unusable":
      return t("model-mtp-unusable");
    case "absent":
      return t("model-mtp-absent");
  }
}

/** Whether a model of the Hub brings its head. */
export const remoteMtp = (mtp: boolean | null): string =>
  t(mtp === null ? "model-head-unknown" : mtp ? "model-head-with" : "model-head-none");

/** How many parameters, and how many of them take part in one token. */
export function parameterLabel(all: number | null, active: number | null): string | null {
  if (all === null) return null;
  if (active === null || active >= all) return parameters(all);
  return t("model-parameters-active", { all: parameters(all), active: parameterCount(active) });
}

/** The number of drafts that pays, and how much. */
export function tuningLabel(tuning: Tuning): string {
  const { tokens_per_second: speeds, best_depth: best, draft_vocabulary: vocabulary } = tuning;
  const [plain] = speeds;
  const fastest = speeds[best];
  if (fastest === undefined || plain === undefined) return t("model-tuned");
  const speed = rate(fastest);
  if (best === 0) return t("model-tuned-plain", { speed });
  const tuned =
    plain > 0
      ? t("model-tuned-drafts", { drafts: best, speed, gain: perPass(fastest / plain) })
      : t("model-tuned-drafts-alone", { drafts: best, speed });
  return vocabulary?.kept ? withVocabulary(tuned, vocabulary) : tuned;
}

/** Also what drafts from the most frequent words alone gain, and what they miss. */
function withVocabulary(
  tuned: string,
  { vocabulary, tokens, before, after }: DraftVocabularyFigures,
): string {
  const first = ({ positions: [first] }: DraftFigures) =>
    percent((first?.accepted ?? 0) / (first?.drafted || 1));
  return t("model-tuned-vocabulary", {
    tuned,
    tokens,
    vocabulary,
    faster: percent(1 - after.draft_milliseconds / before.draft_milliseconds),
    now: first(after),
    before: first(before),
  });
}

/** When a model last answered. */
export function usedLabel(time: number | null, now: number): string {
  if (time === null) return t("model-used-never");
  const day = calendarDay(time, now);
  if (day !== "earlier") return t(day === "today" ? "model-used-today" : "model-used-yesterday");
  const date = new Date(time);
  const sameYear = date.getFullYear() === new Date(now).getFullYear();
  const year = sameYear ? {} : { year: "numeric" as const };
  return t("model-used", {
    date: date.toLocaleDateString(writtenBy(), { day: "numeric", month: "long", ...year }),
  });
}

/** Why a model is not there now, and what brings it back. */
export const offlineLabel = (origin: ModelOrigin, path: string): string =>
  origin === "library" ? t("model-offline-library") : t("model-offline", { path });

/** Where systems put the disks that are connected; the next part of a path is the disk's name. */
const DISKS = /^(?:\/Volumes|\/media\/[^/]+|\/run\/media\/[^/]+|\/mnt)\/([^/]+)/;

/** That the disk with the library, whose folder is `path`, is away. */
export function awayLabel(path: string): string {
  const disk = DISKS.exec(path)?.[1];
  return disk === undefined ? t("model-library-away") : t("model-disk-away", { disk });
}

/** Which models are away with the library's disk, and what brings them back. */
export function comesBackLabel(models: LocalModel[]): string {
  const away = models.filter(({ origin, state }) => origin === "library" && state.state === "offline").length;
  return t("model-comes-back", { models: away });
}

/** Why a model cannot be deleted, or taken off the list; null if it can. */
export function keepReason(origin: ModelOrigin, inUse: boolean): string | null {
  switch (origin) {
    case "library":
    case "folder":
      return inUse ? t("model-kept-in-use") : null;
    case "built_in":
      return t("model-kept-built-in");
    case "hugging_face_cache":
      return t("model-kept-cache");
    case "lm_studio":
      return t("model-kept-studio");
  }
}

/** What a draft model is. */
export const draftModelLabel = (draft: LocalDraftModel): string =>
  line(
    bytes(draft.disk_bytes),
    draft.format && formatLabel(draft.format),
    draft.most_guesses !== null && t("model-guesses", { most: draft.most_guesses }),
    draft.made_for && t("model-made-for", { model: draft.made_for }),
  );

/** What a model in the picker is, in words. */
export function choiceLabel({ origin, state, format, mtp, fit }: LocalModel): string {
  if (state.state === "offline") return t("model-choice-offline");
  if (state.state === "broken") return t("model-choice-broken");
  const builtIn = origin === "built_in" && t("model-choice-built-in");
  return line(builtIn, format && formatLabel(format), mtp && mtpStateLabel(mtp), fit && verdictFact(fit));
}

/** What a job is doing. */
export function stageLabel(stage: JobStage): string {
  switch (stage.stage) {
    case "queued":
      return t("model-stage-queued");
    case "held":
      return t(stage.by.hold === "chat" ? "model-stage-held-chat" : "model-stage-held-memory");
    case "downloading":
      return t("model-stage-downloading");
    case "paused":
      return t("model-stage-paused");
    case "waiting":
      return t("model-stage-waiting");
    case "verifying":
      return t("model-stage-verifying");
    case "probing":
      return t("model-stage-probing");
    case "converting":
      return t("model-stage-converting");
    case "comparing":
      return t("model-stage-comparing");
    case "tuning":
      return t("model-stage-tuning");
    case "moving":
      return t("model-stage-moving");
    case "failed":
      return t("model-stage-failed");
    case "done":
      return t("model-stage-done");
  }
}

/** What a job is doing, or that it has done. */
export function stateLabel({ kind, stage }: Job): string {
  if (stage.stage !== "done") return stageLabel(stage);
  if (kind === "comparison") return t("model-job-compared");
  return kind === "probe" ? t("model-job-measured") : stageLabel(stage);
}

/** What holds a measurement up, and when it goes on. */
export function holdSentence(by: Hold): string {
  if (by.hold === "chat") return t("model-held-chat");
  return t("model-held-memory", { need: bytes(by.need_bytes), available: bytes(by.available_bytes) });
}

/** What will have been done by a job that follows. */
function followedLabel(kind: JobKind): string {
  switch (kind) {
    case "download":
      return t("model-then-downloaded");
    case "probe":
    case "measurement":
    case "benchmark":
      return t("model-then-measured");
    case "comparison":
      return t("model-then-compared");
    case "conversion":
      return t("model-then-converted");
    case "move":
      return t("model-then-moved");
  }
}

/** What comes after what a job does now, as a line goes on; empty where nothing does. */
export function thenLabel({ kind, stage: { stage }, followed_by: following }: Job): string {
  if (stage === "failed" || stage === "done") return "";
  const rest = following.map(followedLabel);
  const all = kind === "download" && stage !== "verifying" ? [t("model-then-checked"), ...rest] : rest;
  return all.length === 0 ? "" : t("model-then", { done: new Intl.ListFormat(writtenBy()).format(all) });
}

/** The units of bytes above kB, each with the number of bytes from which on it is told without tenths. */
const UNITS = [
  { unit: 1e12, whole: Number.POSITIVE_INFINITY },
  { unit: 1e9, whole: 99.95e9 },
  { unit: 1e6, whole: 9.95e6 },
];

/** `12.4 of 55.6 GB`, both in the unit of the whole. */
export function progressBytes(done: number, total: number): string {
  if (total <= 0) return bytes(done);
  const { unit, whole } = UNITS.find(({ unit }) => total >= unit) ?? { unit: 1e3, whole: 0 };
  const digits = total < whole ? 1 : 0;
  const shown = { minimumFractionDigits: digits, maximumFractionDigits: digits };
  return t("model-progress", {
    done: (done / unit).toLocaleString(locale(), shown),
    total: bytes(total),
  });
}

/** How long it still takes. */
export function timeLeft(seconds: number): string {
  const minutes = Math.round(seconds / 60);
  if (seconds < 10) return t("model-left-moment");
  if (seconds < 60) return t("model-left-seconds", { seconds: Math.ceil(seconds / 5) * 5 });
  if (minutes < 60) return t("model-left-minutes", { minutes });
  if (minutes >= 24 * 60) return t("model-left-days");
  return t("model-left-hours", { hours: Math.floor(minutes / 60), minutes: minutes % 60 });
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
    speed: running && inBytes && speed !== null ? t("model-bytes-per-second", { bytes: bytes(speed) }) : "",
    left: running && left !== null ? timeLeft(left) : "",
  };
}

/** The weights of a model after a conversion, in bytes: each group of 64 weights has a scale and a bias of 16 bits. */
export function convertedBytes(count: number, bits: number): number {
  return (count * (bits + 0.5)) / 8;
}

/** What follows the download of `remote`, in a few sentences. */
export function afterwards(remote: RemoteModel, { weights, keep_raw: keep }: ConversionChoice): string {
  if (remote.kind === "converted") return t("model-after-converted");
  if (weights.kind !== "bits") return t("model-after-published");
  const { bits } = weights;
  const { parameters: count } = remote;
  if (count === null) return t(keep ? "model-after-conversion.keeping" : "model-after-conversion", { bits });
  return t(keep ? "model-after-conversion-sized.keeping" : "model-after-conversion-sized", {
    bits,
    size: bytes(convertedBytes(count, bits)),
  });
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
  return missing > 0 ? t("model-space-conversion", { missing: bytes(missing) }) : null;
}

/** Why a download does not fit on the disk; null if it does, or nothing tells. */
export function spaceProblem(
  { download_bytes: size }: { download_bytes: number | null },
  free: number,
): string | null {
  if (size === null || size <= free) return null;
  return t("model-space-download", { size: bytes(size), free: bytes(free) });
}

/** Why a model cannot be downloaded now; null if it can. */
export const downloadProblem = (
  model: { download_bytes: number | null },
  { place }: LibrarySnapshot,
): string | null => (place.online ? spaceProblem(model, place.free_bytes) : t("model-library-offline"));
