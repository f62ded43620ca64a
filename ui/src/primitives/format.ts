import type {
  Drafting,
  DraftingNote,
  DraftModelInfo,
  LiveStats,
  ModelInfo,
  ReplyStats,
  Sampling,
} from "../bridge/bindings";
import { locale, t } from "../language/text";

/** Something that formats as a language does: made when it is first needed, and once for each language. */
export function inLanguage<T>(make: (locale: string) => T): () => T {
  const made = new Map<string, T>();
  return () => {
    const known = made.get(locale()) ?? make(locale());
    made.set(locale(), known);
    return known;
  };
}

/** By what dates and lists are written: English has the day before the month here, and no comma before "and". */
export const writtenBy = (): string => (locale() === "en" ? "en-GB" : locale());

const WHOLE = inLanguage((of) => new Intl.NumberFormat(of, { maximumFractionDigits: 0 }));
const TENTH = inLanguage(
  (of) => new Intl.NumberFormat(of, { minimumFractionDigits: 1, maximumFractionDigits: 1 }),
);
const HUNDREDTH = inLanguage(
  (of) => new Intl.NumberFormat(of, { minimumFractionDigits: 2, maximumFractionDigits: 2 }),
);
/** Digits as `rate` has them, and a word for the size: `8.4 billion`. */
const WORDED = inLanguage(
  (of) =>
    new Intl.NumberFormat(of, {
      notation: "compact",
      compactDisplay: "long",
      minimumFractionDigits: 0,
      maximumFractionDigits: 0,
      minimumSignificantDigits: 2,
      maximumSignificantDigits: 2,
      roundingPriority: "morePrecision",
    }),
);
const TYPED = inLanguage(
  (of) => new Intl.NumberFormat(of, { useGrouping: false, maximumSignificantDigits: 16 }),
);

export const count = (value: number): string => WHOLE().format(value);

/** One decimal below ten, none above: `8.4`, `58`. */
export const rate = (value: number): string => (value < 9.95 ? TENTH() : WHOLE()).format(value);

/** A factor that is near to others: `2.10`. */
const factor = (value: number): string => HUNDREDTH().format(value);

export const perPass = (value: number): string => TENTH().format(value);

/** A number as it is typed: seven digits are all that a 32-bit one has; whole numbers keep all of theirs. */
export const exact = (value: number): string =>
  TYPED().format(Number.isInteger(value) ? value : Number(value.toPrecision(7)));

export const percent = (share: number): string => t("word-percent", { share: count(share * 100) });

export function seconds(value: number): string {
  if (value >= 60)
    return t("word-minutes-seconds", {
      minutes: count(Math.floor(value / 60)),
      seconds: count(Math.floor(value % 60)),
    });
  if (value >= 0.995) return t("word-seconds", { seconds: rate(value) });
  return t("word-milliseconds", { milliseconds: count(value * 1000) });
}

export function bytes(value: number): string {
  if (value >= 1e12) return `${perPass(value / 1e12)} TB`;
  if (value >= 99.95e9) return `${count(value / 1e9)} GB`;
  if (value >= 1e9) return `${perPass(value / 1e9)} GB`;
  if (value >= 1e6) return `${rate(value / 1e6)} MB`;
  return `${count(value / 1e3)} kB`;
}

/** How much memory a machine has, as its maker counts: in powers of two, `64 GB`. */
export const memory = (value: number): string => `${count(value / 2 ** 30)} GB`;

/** How many parameters there are, without the word for them: `8.4 billion`. */
export const parameterCount = (value: number): string =>
  value >= 1e6 ? WORDED().format(value) : count(value);

export const parameters = (value: number): string => t("word-parameters", { count: parameterCount(value) });

/** Facts in a row, as far as there are any. */
export const commas = (facts: (string | false | null)[]): string =>
  facts.filter(Boolean).join(t("word-comma"));

/** Sentences one after the other, as far as there are any. */
export const sentences = (...all: (string | false | null)[]): string =>
  all.filter(Boolean).join(t("word-gap"));

/** Accepted over drafted at all positions; null where nothing was drafted. */
export function acceptance(stats: ReplyStats): number | null {
  const drafted = stats.positions.reduce((sum, position) => sum + position.drafted, 0);
  const accepted = stats.positions.reduce((sum, position) => sum + position.accepted, 0);
  return drafted === 0 ? null : accepted / drafted;
}

const acceptedLabel = (share: number): string => t("word-accepted", { share: percent(share) });

const perPassLabel = (tokens: number): string => t("word-per-pass", { tokens: perPass(tokens) });

/** The three numbers under a reply, each with its unit. */
export function speedParts(stats: LiveStats): [string, string, string] {
  const drafts = stats.acceptance === null ? t("word-no-drafts") : acceptedLabel(stats.acceptance);
  return [`${rate(stats.tokens_per_second)} tok/s`, perPassLabel(stats.tokens_per_pass), drafts];
}

/** How many times as fast as plain decoding a reply was; null where that was not measured. */
export function speedUp({ tokens_per_second, plain }: ReplyStats): number | null {
  return plain === null ? null : tokens_per_second / plain.tokens_per_second;
}

export const times = (factor: number): string => `${perPass(factor)}×`;

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
    gain: gained === null ? null : t("word-gain", { factor: perPass(gained) }),
    speed: `${rate(stats.tokens_per_second)} tok/s`,
    pass: perPassLabel(stats.tokens_per_pass),
    accepted: accepted === null ? null : acceptedLabel(accepted),
  };
}

/** What drafts are, for whoever sees the word for the first time. */
export const whatDraftsAre = (): string => t("word-what-drafts-are");

/** How the tokens of a reply were drawn. */
export function samplingLabel(sampling: Sampling): string {
  if (isGreedy(sampling)) return t("word-greedy");
  const { temperature, top_p, top_k, min_p } = sampling;
  return commas([
    t("word-temperature", { temperature: exact(temperature) }),
    top_k > 0 && `top-k ${exact(top_k)}`,
    top_p < 1 && `top-p ${exact(top_p)}`,
    min_p > 0 && `min-p ${exact(min_p)}`,
  ]);
}

export function draftingName(drafting: Drafting): string {
  switch (drafting.mode) {
    case "fixed":
      return String(drafting.depth);
    case "dflash":
      return drafting.depth == null ? "DFlash" : t("word-drafting-dflash", { depth: drafting.depth });
    case "auto":
      return t("word-drafting-auto");
    case "off":
      return t("word-drafting-off");
    case "mtp":
      return "MTP";
    case "lookup":
      return t("word-drafting-look-up");
  }
}

/** Whether a note says that drafts cost more than they bring. */
export const doNotPay = (note: DraftingNote | null): boolean => note?.kind === "not_paying";

/** Why drafts were not used, or not all the time, in a sentence. */
export function draftingNoteLabel(note: DraftingNote): string {
  switch (note.kind) {
    case "switched_off":
      return t("word-note-switched-off");
    case "no_draft_model":
      return t("word-note-no-draft-model");
    case "no_head":
      return t("word-note-no-head");
    case "little_in_text":
      return t("word-note-lookup-little");
    case "lookup_not_paying":
      return t("word-note-lookup-unpaid");
    case "not_paying":
      return t("word-note-unpaid", {
        drafts: note.drafts,
        longer: factor(note.times_as_long),
        more: factor(note.times_as_many_tokens),
      });
    case "others_are_right_more_often":
      return t("word-note-others-righter");
    case "others_would_be_slower":
      return t("word-note-others-slower");
  }
}

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

/** Why a model has no MTP head that could guess, in a few words and in full; null where it has one. */
function headless({ mtp }: ModelInfo): { words: string; why: string } | null {
  switch (mtp.state) {
    case "present":
      return null;
    case "absent":
      return { words: t("word-head-absent"), why: t("word-head-absent.why") };
    case "stripped":
      return { words: t("word-head-stripped"), why: t("word-head-stripped.why") };
    case "unusable":
      return { words: t("word-head-unusable"), why: t("word-head-unusable.why") };
  }
}

/** `note` is what the last reply said of its drafts. */
export function mtpChip(drafting: Drafting, model: ModelInfo | null, note: DraftingNote | null): MtpChip {
  const none = model && headless(model);
  const hasHead = none === null;
  const off = t("word-drafting-off");
  const hasDraftModel = model !== null && model.draft_model !== null;
  const chip = (setting: string, words: string | null = null, why: string | null = null): MtpChip => ({
    setting,
    words,
    why,
    hasHead,
  });
  if (drafting.mode === "dflash" && model !== null && !hasDraftModel) {
    const others = t(hasHead ? "word-guesses-head" : "word-guesses-text");
    return chip(off, t("word-no-draft-model"), sentences(t("word-no-draft-model.why"), others));
  }
  if (none && !hasDraftModel) {
    const fromTheText = t(looksUp(drafting) ? "word-guesses-text-alone" : "word-guesses-text");
    const setting = looksUp(drafting) ? t("word-drafting-look-up") : off;
    return chip(setting, none.words, sentences(none.why, fromTheText));
  }
  if (none && needsHead(drafting))
    return chip(off, none.words, sentences(none.why, t("word-guesses-draft-model")));
  const setting = draftingName(drafting);
  if (drafting.mode === "off") return chip(setting, t("word-drafts-off"), t("word-drafts-off.why"));
  // What is said of other drafts says nothing of look-up's.
  if (drafting.mode === "lookup" || note === null || !doNotPay(note)) return chip(setting);
  return chip(setting, t("word-drafts-not-paying"), draftingNoteLabel(note));
}

/** Who made the drafts of a reply, and how many; null where there were none. */
export function whoDrafted({
  positions,
  by_draft_model: dflash,
  looked_up: text,
}: ReplyStats): string | null {
  const all = positions.reduce((sum, { drafted }) => sum + drafted, 0);
  const head = all - dflash.drafted - text.drafted;
  const makers = commas([
    head > 0 && t("word-drafts-by-head", { count: head }),
    dflash.drafted > 0 && t("word-drafts-by-dflash", { count: dflash.drafted }),
    text.drafted > 0 && t("word-drafts-from-text", { count: text.drafted }),
  ]);
  return makers === "" ? null : t("word-drafts-made", { makers });
}

/** What explains a control, to those who point at it and to those who hear it. */
export const explained = (words: string) => ({ title: words, "aria-description": words });

export const isGreedy = (sampling: Sampling): boolean => sampling.temperature === 0;

/** A format without what only a note has room for: `4-bit`. */
export const formatLabel = (format: string): string => format.split(/[,;]/)[0] ?? format;

/** What makes up the head of a model that has one. */
export const mtpHeadLabel = ({ tensors, format }: { tensors: number; format: string }): string =>
  t("word-mtp-head", { tensors, format: formatLabel(format) });

/** Whether a model can draft for itself, in words. */
export function mtpLabel(model: ModelInfo): string {
  const others = t(model.draft_model ? "word-guesses-of-model.drafted" : "word-guesses-of-model");
  switch (model.mtp.state) {
    case "present":
      return mtpHeadLabel(model.mtp);
    case "absent":
      return sentences(t("word-head-absent.about"), others);
    case "stripped":
      return sentences(t("word-head-stripped.about"), others);
    case "unusable":
      return sentences(t("word-head-unusable.about"), others);
  }
}

/** The draft model that is loaded with a model. */
export const loadedDraftLabel = ({ name, most_guesses: most, weight_bytes: size }: DraftModelInfo): string =>
  t("word-draft-model", { name, most, size: bytes(size) });

const DAY = 86_400_000;
const TIME = inLanguage(
  (of) => new Intl.DateTimeFormat(of, { hour: "2-digit", minute: "2-digit", hourCycle: "h23" }),
);

const midnightOf = (time: number): number => new Date(time).setHours(0, 0, 0, 0);

/** On which day a time was. A day that is an hour shorter or longer is one too. */
export function calendarDay(time: number, now: number): "today" | "yesterday" | "earlier" {
  const midnight = midnightOf(now);
  if (time >= midnight) return "today";
  return time >= midnightOf(midnight - DAY / 2) ? "yesterday" : "earlier";
}

/** When the last seven days began, of which no two have one name. */
export const weekBegin = (now: number): number => midnightOf(midnightOf(now) - 5.5 * DAY);

const isThisYear = (date: Date, now: number): boolean => date.getFullYear() === new Date(now).getFullYear();

/** When something was, as shortly as it can be said: `09:41`, `Tue`, `12 Nov`, `12 Nov 2024`. */
export function shortDate(time: number, now: number): string {
  const date = new Date(time);
  if (calendarDay(time, now) === "today") return TIME().format(date);
  if (time >= weekBegin(now)) return t("word-weekday", { date });
  return t(isThisYear(date, now) ? "word-day" : "word-day-and-year", { date });
}

/** The heading under which a chat stands in the sidebar. */
export function dayOf(time: number, now: number): string {
  const day = calendarDay(time, now);
  if (day !== "earlier") return day === "today" ? t("word-today") : t("word-yesterday");
  if (time >= weekBegin(now)) return t("word-last-seven-days");
  const date = new Date(time);
  return t(isThisYear(date, now) ? "word-month" : "word-month-and-year", { date });
}

/** Words with a capital at the beginning. */
export const sentence = (words: string): string =>
  words.charAt(0).toLocaleUpperCase(locale()) + words.slice(1);
