import type { Drafting, LiveStats, ModelInfo, ReplyStats, Sampling } from "./bindings";

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

/** The three numbers under a reply. */
export function speedLine(stats: LiveStats): string {
  const drafts = stats.acceptance === null ? "no drafts" : percent(stats.acceptance);
  return `${rate(stats.tokens_per_second)} tok/s · ${perPass(stats.tokens_per_pass)} per pass · ${drafts}`;
}

export function finalSpeedLine(stats: ReplyStats): string {
  return speedLine({ ...stats, acceptance: acceptance(stats) });
}

/** What the numbers of a reply mean, in a sentence or two. */
export function speedSentence(stats: ReplyStats): string {
  const share = acceptance(stats);
  if (share === null) return "No drafts: every pass of the model wrote one token.";
  const right = `The model guessed ahead, and ${percent(share)} of its guesses were right.`;
  if (stats.tokens_per_pass < 1.05) return `${right} They saved almost no passes.`;
  return `${right} Each pass wrote ${perPass(stats.tokens_per_pass)} tokens on average, where plain decoding writes one.`;
}

export const draftingName = (drafting: Drafting): string =>
  drafting.mode === "fixed" ? String(drafting.depth) : drafting.mode === "auto" ? "Auto" : "Off";

/** How the engine begins to say that drafts cost more than they bring. */
const NOT_PAYING = "Drafts do not pay here";

/** What the MTP control says of itself. */
export interface MtpChip {
  /** What holds for the next message. */
  setting: string;
  /** Why drafts do not help, in a few words. */
  words: string | null;
  /** The same in full. */
  why: string | null;
  /** Whether there is something to choose. */
  usable: boolean;
}

/** `note` is what the last reply said of its drafts. */
export function mtpChip(drafting: Drafting, model: ModelInfo | null, note: string | null): MtpChip {
  switch (model?.mtp.state) {
    case "absent":
      return {
        setting: "off",
        words: "no MTP head",
        why: "This model has no MTP head, so it cannot guess ahead.",
        usable: false,
      };
    case "stripped":
      return {
        setting: "off",
        words: "head removed",
        why: "The MTP head was removed when this copy of the model was converted, so it cannot guess ahead.",
        usable: false,
      };
    case "unusable":
      return {
        setting: "off",
        words: "head unusable",
        why: "This model's MTP head cannot be used, so it cannot guess ahead. The model picker says what is wrong with it.",
        usable: false,
      };
  }
  const setting = draftingName(drafting);
  if (drafting.mode === "off" || !note?.startsWith(NOT_PAYING))
    return { setting, words: null, why: null, usable: true };
  return { setting, words: "not paying here", why: note, usable: true };
}

/** What explains a control, to those who point at it and to those who hear it. */
export const explained = (words: string) => ({ title: words, "aria-description": words });

export const isGreedy = (sampling: Sampling): boolean => sampling.temperature === 0;

/** A format without what only a note has room for: `4-bit`. */
export const formatWord = (format: string): string => format.split(/[,;]/)[0] ?? format;

/** What makes up the head of a model that has one. */
export const headWords = ({ tensors, format }: { tensors: number; format: string }): string =>
  `MTP head: ${count(tensors)} tensors, ${formatWord(format)}`;

/** Whether a model can draft for itself, in words. */
export function mtpWords(model: ModelInfo): string {
  switch (model.mtp.state) {
    case "present":
      return headWords(model.mtp);
    case "absent":
      return "No MTP head: this model writes one token per pass.";
    case "stripped":
      return "The MTP head was removed when this copy was converted. It writes one token per pass.";
    case "unusable":
      return "There is an MTP head, but it cannot be used: this model writes one token per pass.";
  }
}

const DAY = 86_400_000;
const MONTH = new Intl.DateTimeFormat("en", { month: "long" });
const MONTH_OF_YEAR = new Intl.DateTimeFormat("en", { month: "long", year: "numeric" });

/** The heading under which a chat stands in the sidebar. */
export function dayOf(time: number, now: number): string {
  const midnight = new Date(now).setHours(0, 0, 0, 0);
  if (time >= midnight) return "Today";
  if (time >= new Date(midnight - DAY / 2).setHours(0, 0, 0, 0)) return "Yesterday";
  if (time >= midnight - 6 * DAY) return "Last seven days";
  const date = new Date(time);
  const sameYear = date.getFullYear() === new Date(now).getFullYear();
  return (sameYear ? MONTH : MONTH_OF_YEAR).format(date);
}
