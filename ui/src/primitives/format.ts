import type {
  Drafting,
  DraftModelInfo,
  LiveStats,
  ModelInfo,
  ReplyStats,
  Sampling,
} from "../bridge/bindings";

const WHOLE = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const TENTH = new Intl.NumberFormat("en", { minimumFractionDigits: 1, maximumFractionDigits: 1 });

export const count = (value: number): string => WHOLE.format(value);

/** One decimal below ten, none above: `8.4`, `58`. */
export const rate = (value: number): string => (value < 9.95 ? TENTH : WHOLE).format(value);

export const perPass = (value: number): string => TENTH.format(value);

export const percent = (share: number): string => `${WHOLE.format(share * 100)} %`;

export function seconds(value: number): string {
  if (value >= 60)
    return `${WHOLE.format(Math.floor(value / 60))} min ${WHOLE.format(Math.floor(value % 60))} s`;
  if (value >= 9.95) return `${WHOLE.format(value)} s`;
  if (value >= 0.995) return `${TENTH.format(value)} s`;
  return `${WHOLE.format(value * 1000)} ms`;
}

export function bytes(value: number): string {
  if (value >= 1e12) return `${TENTH.format(value / 1e12)} TB`;
  if (value >= 99.95e9) return `${WHOLE.format(value / 1e9)} GB`;
  if (value >= 1e9) return `${TENTH.format(value / 1e9)} GB`;
  if (value >= 1e6) return `${rate(value / 1e6)} MB`;
  return `${WHOLE.format(value / 1e3)} kB`;
}

/** What computes, for the engine's name of a device. */
export const processor = (device: string): string => (device === "cpu" ? "the CPU" : "the GPU");

/** How much memory a machine has, as its maker counts: in powers of two, `64 GB`. */
export const memory = (value: number): string => `${WHOLE.format(value / 2 ** 30)} GB`;

export function parameters(value: number): string {
  if (value >= 1e9) return `${rate(value / 1e9)} billion parameters`;
  if (value >= 1e6) return `${rate(value / 1e6)} million parameters`;
  return `${count(value)} parameters`;
}

/** Accepted over drafted at all positions; null where nothing was drafted. */
export function acceptance(stats: ReplyStats): number | null {
  const drafted = stats.positions.reduce((sum, position) => sum + position.drafted, 0);
  const accepted = stats.positions.reduce((sum, position) => sum + position.accepted, 0);
  return drafted === 0 ? null : accepted / drafted;
}

const acceptedLabel = (share: number): string => `${percent(share)} accepted`;

/** The three numbers under a reply, each with its unit. */
export function speedParts(stats: LiveStats): [string, string, string] {
  const drafts = stats.acceptance === null ? "no drafts" : acceptedLabel(stats.acceptance);
  return [`${rate(stats.tokens_per_second)} tok/s`, `${perPass(stats.tokens_per_pass)} per pass`, drafts];
}

/** How many times as fast as plain decoding a reply was; null where that was not measured. */
export function speedUp({ tokens_per_second, plain }: ReplyStats): number | null {
  return plain === null ? null : tokens_per_second / plain.tokens_per_second;
}

export const times = (factor: number): string => `${TENTH.format(factor)}×`;

/** Fewer guesses than this have no percentage: it would tell of chance. */
const LEAST_GUESSES = 20;

/** The share of the guesses of a finished reply that stood; null where there were too few to tell. */
function tellingAcceptance(stats: ReplyStats): number | null {
  const drafted = stats.positions.reduce((sum, position) => sum + position.drafted, 0);
  return drafted < LEAST_GUESSES ? null : acceptance(stats);
}

/** The parts of a finished reply's line, in the order that they are said in; null where nothing can be said. */
interface FooterParts {
  gain: string | null;
  speed: string;
  pass: string;
  accepted: string | null;
}

/** What a finished reply says of its speed: what was gained, if that is known, and how often guesses were right. */
export function footerParts(stats: ReplyStats): FooterParts {
  const [gained, accepted] = [speedUp(stats), tellingAcceptance(stats)];
  return {
    gain: gained === null ? null : `${times(gained)} plain`,
    speed: `${rate(stats.tokens_per_second)} tok/s`,
    pass: `${perPass(stats.tokens_per_pass)} per pass`,
    accepted: accepted === null ? null : acceptedLabel(accepted),
  };
}

/** What drafts are, for whoever sees the word for the first time. */
export const WHAT_DRAFTS_ARE =
  "Drafts are words that the model guesses ahead. It then checks all of them in one pass and keeps the right ones. A wrong guess takes a little time and never makes the answer worse.";

/** How the tokens of a reply were drawn. */
export function samplingLabel(sampling: Sampling): string {
  if (isGreedy(sampling)) return "greedy";
  const { temperature, top_p, top_k, min_p } = sampling;
  return [
    `temperature ${temperature}`,
    top_k > 0 && `top-k ${top_k}`,
    top_p < 1 && `top-p ${top_p}`,
    min_p > 0 && `min-p ${min_p}`,
  ]
    .filter(Boolean)
    .join(", ");
}

const DRAFTING_NAMES = { auto: "Auto", off: "Off", mtp: "MTP", lookup: "Look-up" } as const;

export function draftingName(drafting: Drafting): string {
  switch (drafting.mode) {
    case "fixed":
      return String(drafting.depth);
    case "dflash":
      return drafting.depth == null ? "DFlash" : `DFlash, ${drafting.depth}`;
    default:
      return DRAFTING_NAMES[drafting.mode];
  }
}

/** How the engine begins to say that drafts cost more than they bring. */
const NOT_PAYING = "Drafts do not pay here";

/** Whether a note says that drafts cost more than they bring. */
export const doNotPay = (note: string | null): boolean => note?.startsWith(NOT_PAYING) ?? false;

/** What the MTP control says of itself. */
interface MtpChip {
  /** What holds for the next message. */
  setting: string;
  /** Why drafts do not help, in a few words. */
  words: string | null;
  /** The same in full. */
  why: string | null;
  /** Whether the model has a head to choose a number of guesses for. */
  hasHead: boolean;
}

/** Whether words may be guessed from the text so far, which takes no head. */
export const looksUp = ({ mode }: Drafting): boolean => mode === "auto" || mode === "lookup";

/** Whether nobody but the MTP head may guess. */
export const needsHead = ({ mode }: Drafting): boolean => mode === "fixed" || mode === "mtp";

/** Why a model has no MTP head that could guess. */
const HEADLESS = {
  absent: { words: "no MTP head", why: "This model has no MTP head." },
  stripped: {
    words: "head removed",
    why: "The MTP head was removed when this copy of the model was converted.",
  },
  unusable: {
    words: "head unusable",
    why: "This model's MTP head cannot be used; the model picker says what is wrong with it.",
  },
} as const;

/** `note` is what the last reply said of its drafts. */
export function mtpChip(drafting: Drafting, model: ModelInfo | null, note: string | null): MtpChip {
  const headless = model === null || model.mtp.state === "present" ? null : HEADLESS[model.mtp.state];
  const hasHead = headless === null;
  const hasDraftModel = model !== null && model.draft_model !== null;
  const chip = (setting: string, words: string | null = null, why: string | null = null): MtpChip => ({
    setting,
    words,
    why,
    hasHead,
  });
  if (drafting.mode === "dflash" && model !== null && !hasDraftModel) {
    const others = hasHead
      ? "Auto guesses with the MTP head."
      : "Auto and Look-up guess from the text so far.";
    return chip("Off", "no draft model", `No draft model is loaded with this model. ${others}`);
  }
  if (headless && !hasDraftModel) {
    const fromTheText = looksUp(drafting)
      ? "Its guesses come from the text so far alone."
      : "Auto and Look-up guess from the text so far.";
    return chip(looksUp(drafting) ? "Look-up" : "Off", headless.words, `${headless.why} ${fromTheText}`);
  }
  if (headless && needsHead(drafting))
    return chip("Off", headless.words, `${headless.why} Auto and DFlash guess with its draft model.`);
  const setting = draftingName(drafting);
  if (drafting.mode === "off")
    return chip(setting, "by you", "Drafts are off because you switched them off.");
  // What is said of other drafts says nothing of look-up's.
  if (drafting.mode === "lookup" || !doNotPay(note)) return chip(setting);
  return chip(setting, "not paying here", note);
}

/** Who made the drafts of a reply, and how many; null where there were none. */
export function whoDrafted({
  positions,
  by_draft_model: dflash,
  looked_up: text,
}: ReplyStats): string | null {
  const all = positions.reduce((sum, { drafted }) => sum + drafted, 0);
  const head = all - dflash.drafted - text.drafted;
  const parts = [
    head > 0 && `${count(head)} by the MTP head`,
    dflash.drafted > 0 && `${count(dflash.drafted)} by DFlash`,
    text.drafted > 0 && `${count(text.drafted)} from the text`,
  ].filter(Boolean);
  return parts.length === 0 ? null : `drafts: ${parts.join(", ")}`;
}

/** What explains a control, to those who point at it and to those who hear it. */
export const explained = (words: string) => ({ title: words, "aria-description": words });

export const isGreedy = (sampling: Sampling): boolean => sampling.temperature === 0;

/** A format without what only a note has room for: `4-bit`. */
export const formatLabel = (format: string): string => format.split(/[,;]/)[0] ?? format;

/** What makes up the head of a model that has one. */
export const mtpHeadLabel = ({ tensors, format }: { tensors: number; format: string }): string =>
  `MTP head: ${count(tensors)} tensors, ${formatLabel(format)}`;

/** Whether a model can draft for itself, in words. */
export function mtpLabel(model: ModelInfo): string {
  const others = model.draft_model
    ? "Its draft model guesses, or the text so far."
    : "Guesses come from the text so far alone.";
  switch (model.mtp.state) {
    case "present":
      return mtpHeadLabel(model.mtp);
    case "absent":
      return `No MTP head. ${others}`;
    case "stripped":
      return `The MTP head was removed when this copy was converted. ${others}`;
    case "unusable":
      return `There is an MTP head, but it cannot be used. ${others}`;
  }
}

/** The draft model that is loaded with a model. */
export const loadedDraftLabel = ({ name, most_guesses: most, weight_bytes: size }: DraftModelInfo): string =>
  `Draft model: ${name}, guesses up to ${most} ahead, ${bytes(size)}`;

const DAY = 86_400_000;
const MONTH = new Intl.DateTimeFormat("en", { month: "long" });
const SHORT_MONTH = new Intl.DateTimeFormat("en", { month: "short" });
const WEEKDAY = new Intl.DateTimeFormat("en", { weekday: "short" });
const TIME = new Intl.DateTimeFormat("en", { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
const MONTH_OF_YEAR = new Intl.DateTimeFormat("en", { month: "long", year: "numeric" });

const midnightOf = (time: number): number => new Date(time).setHours(0, 0, 0, 0);

/** On which day a time was. A day that is an hour shorter or longer is one too. */
export function calendarDay(time: number, now: number): "today" | "yesterday" | "earlier" {
  const midnight = midnightOf(now);
  if (time >= midnight) return "today";
  return time >= midnightOf(midnight - DAY / 2) ? "yesterday" : "earlier";
}

/** When the last seven days began, of which no two have one name. */
export const weekBegin = (now: number): number => midnightOf(midnightOf(now) - 5.5 * DAY);

/** When something was, as shortly as it can be said: `09:41`, `Tue`, `12 Nov`, `12 Nov 2024`. */
export function shortDate(time: number, now: number): string {
  const date = new Date(time);
  if (calendarDay(time, now) === "today") return TIME.format(date);
  if (time >= weekBegin(now)) return WEEKDAY.format(date);
  const day = `${date.getDate()} ${SHORT_MONTH.format(date)}`;
  return date.getFullYear() === new Date(now).getFullYear() ? day : `${day} ${date.getFullYear()}`;
}

/** The heading under which a chat stands in the sidebar. */
export function dayOf(time: number, now: number): string {
  const day = calendarDay(time, now);
  if (day !== "earlier") return day === "today" ? "Today" : "Yesterday";
  if (time >= weekBegin(now)) return "Last seven days";
  const date = new Date(time);
  const sameYear = date.getFullYear() === new Date(now).getFullYear();
  return (sameYear ? MONTH : MONTH_OF_YEAR).format(date);
}

/** Words with a capital at the beginning. */
export const sentence = (words: string): string => words.charAt(0).toUpperCase() + words.slice(1);
