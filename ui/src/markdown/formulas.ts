/** A formula in a text. */
export interface FormulaSource {
  /** With what stands around it. */
  raw: string;
  /** What it says, in TeX. */
  tex: string;
  /** Stands on a line of its own. */
  display: boolean;
}

/** Longer ones are text. It bounds the search for an end that never comes. */
const LONGEST = 2_000;
/** Lines of a paragraph that look like the beginning of a formula. */
const MOST_TRIED = 10;
/** Ends within a formula that are escaped, such as `\\$`. */
const MOST_ESCAPED = 20;
/** An open `$…` that is longer is taken for money, until it ends. */
const LIKELY = 120;
/** What stands around a formula, the longest first. */
const PAIRS = [
  { open: "$$", close: "$$", display: true },
  { open: "\\[", close: "\\]", display: true },
  { open: "\\(", close: "\\)", display: false },
  { open: "$", close: "$", display: false },
] as const;

const BLANK_LINE = /\n[ \t]*\n/;
/** What no `$…$` begins with, ends with or holds. */
const NOT_INLINE = /^\s|\s$|[\n`]/;
const WORD_OR_DOLLAR = /[\p{L}\p{N}$]/u;
/** "5 and", "3.50/month": money and what follows it. */
const AMOUNT = /^\d[\d.,]*[kKmMbB]?[\s,;:.)/-]+\p{L}{2,}/u;

const BLOCK_START = /^ {0,3}(?=\$\$|\\\[)/;
const LINE_START = /(?<=\n) {0,3}(?:\$\$|\\\[)/g;
/**
 * A line up to where a formula of its own may begin, in a quote and in a list, too. Looking back would be quadratic.
 */
const ANY_LINE_START = /^([ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?)(?:\$\$|\\\[)/gm;
const REST_OF_LINE = /^[ \t]*(?:\n+|$)/;

/** The formula that begins at `at`, behind the character `before`; null if none does or it has not ended. */
export function formulaAt(text: string, at: number, before = text[at - 1]): FormulaSource | null {
  const pair = pairAt(text, at);
  if (!pair) return null;
  const from = at + pair.open.length;
  const length = lengthTo(text, from, pair.close);
  if (length < 0) return null;
  const tex = text.slice(from, from + length);
  const end = from + length + pair.close.length;
  if (tex.trim() === "" || BLANK_LINE.test(tex)) return null;
  if (pair.open === "$" && (NOT_INLINE.test(tex) || isMoney(tex, before, text[end]))) return null;
  return { raw: text.slice(at, end), tex: tex.trim(), display: pair.display };
}

/** Whether what begins at `at` may become a formula once more text has come. */
export function mayBecomeFormula(text: string, at: number): boolean {
  const pair = pairAt(text, at);
  if (!pair) return text[at] === "\\" && at === text.length - 1;
  if (text.length - at > (pair.open === "$" ? LIKELY : LONGEST)) return false;
  const rest = text.slice(at + pair.open.length);
  if (lengthTo(rest, 0, pair.close) >= 0 || BLANK_LINE.test(rest)) return false;
  return pair.open !== "$" || !(NOT_INLINE.test(`${rest}.`) || isMoney(rest, text[at - 1], undefined));
}

/** The formula that is all of the first block of `text`. */
export function formulaBlock(text: string): FormulaSource | null {
  const indent = BLOCK_START.exec(text)?.[0];
  if (indent === undefined) return null;
  const formula = formulaAt(text, indent.length);
  if (!formula) return null;
  const raw = indent + formula.raw;
  const rest = REST_OF_LINE.exec(text.slice(raw.length, raw.length + LONGEST))?.[0];
  return rest === undefined ? null : { ...formula, raw: raw + rest };
}

/** Where a formula of its own begins on a further line of the first paragraph of `text`; below 0 if none does. */
export function formulaLine(text: string): number {
  // Not all of it: this is asked of every line of a list.
  const near = text.slice(0, LONGEST);
  const blank = near.search(BLANK_LINE);
  const lines = [...(blank < 0 ? near : near.slice(0, blank)).matchAll(LINE_START)];
  for (const { index } of lines.slice(0, MOST_TRIED)) {
    if (formulaBlock(text.slice(index, index + 2 * LONGEST))) return index;
  }
  return -1;
}

/** Where the formula of its own begins that is still being written; below 0 if there is none. */
export function openFormula(text: string): number {
  const last = text.lastIndexOf("\n\n") + 1;
  let end = last;
  for (const { index, 1: before = "" } of text.slice(last).matchAll(ANY_LINE_START)) {
    const at = last + index + before.length;
    if (at < end) continue;
    const formula = formulaAt(text, at);
    if (formula) end = at + formula.raw.length;
    else if (mayBecomeFormula(text, at)) return at;
  }
  return -1;
}

/** Where the words that `text` begins with end because a `$…` begins; below 0 if something else ends them. */
export function wordsBeforeFormula(text: string): number {
  const marks = /[$\\<![`*_~\n]/g;
  marks.lastIndex = 1;
  for (let mark = marks.exec(text); mark?.[0] === "$"; mark = marks.exec(text)) {
    if (formulaAt(text, mark.index)) return mark.index;
  }
  return -1;
}

/** The places of all formulas in a run of text, in order. */
export function formulasIn(run: string): { from: number; to: number }[] {
  const found = [];
  const marks = /[$\\]/g;
  for (let mark = marks.exec(run); mark; mark = marks.exec(run)) {
    const from = mark.index;
    const formula = formulaAt(run, from);
    if (formula) found.push({ from, to: from + formula.raw.length });
    marks.lastIndex = from + (formula?.raw.length ?? (mark[0] === "\\" ? 2 : 1));
  }
  return found;
}

function pairAt(text: string, at: number): (typeof PAIRS)[number] | undefined {
  return PAIRS.find(({ open }) => text.startsWith(open, at));
}

/** How many characters of `text` stand between `from` and the next `close` that is not escaped; below 0 if too many. */
function lengthTo(text: string, from: number, close: string): number {
  const near = text.slice(from, from + LONGEST);
  let at = near.indexOf(close);
  for (let escaped = 0; at >= 0 && escaped < MOST_ESCAPED; escaped += 1) {
    let slashes = 0;
    while (near[at - slashes - 1] === "\\") slashes += 1;
    if (slashes % 2 === 0) return at;
    at = near.indexOf(close, at + 1);
  }
  return -1;
}

/** Whether `$` is a sign of money or of a variable here, and not the border of a formula. */
function isMoney(inside: string, before: string | undefined, after: string | undefined): boolean {
  return WORD_OR_DOLLAR.test(before ?? " ") || WORD_OR_DOLLAR.test(after ?? " ") || AMOUNT.test(inside);
}
