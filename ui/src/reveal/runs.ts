import type { DraftRun } from "../bridge/bindings";

/** Draft positions that are told apart; those further ahead look like the last. */
export const POSITIONS = 3;

/** Adds the stretches of what comes next. */
export function joinRuns(runs: DraftRun[], more: DraftRun[]): DraftRun[] {
  const [first, ...rest] = more;
  const last = runs.at(-1);
  if (!first) return runs;
  if (last?.[1] !== first[1]) return [...runs, ...more];
  return [...runs.slice(0, -1), [last[0] + first[0], last[1]], ...rest];
}

/** Stretches as long as a text of `length` characters: what nobody knows anything about is the model's own. */
export function fitRuns(runs: DraftRun[], length: number): DraftRun[] {
  const fitted: DraftRun[] = [];
  let left = length;
  for (const [count, position] of runs) {
    if (left === 0) break;
    fitted.push([Math.min(count, left), position]);
    left -= Math.min(count, left);
  }
  return left === 0 ? fitted : joinRuns(fitted, [[left, 0]]);
}

/** The stretches of `length` characters from one on. */
export function sliceRuns(runs: DraftRun[], from: number, length: number): DraftRun[] {
  const slice: DraftRun[] = [];
  let at = 0;
  for (const [count, position] of runs) {
    const part = Math.min(at + count, from + length) - Math.max(at, from);
    if (part > 0) slice.push([part, position]);
    at += count;
  }
  return slice;
}

/** The characters of a text as the shell counts them: a pair of surrogates is one. */
export function characters(text: string): number {
  let pairs = 0;
  for (let i = 0; i < text.length; i += 1) {
    if (isHigh(text.charCodeAt(i)) && isLow(text.charCodeAt(i + 1))) pairs += 1;
  }
  return text.length - pairs;
}

/** Half of a pair of surrogates. */
const PAIR = /[\ud800-\udfff]/;

const isHigh = (unit: number) => unit >= 0xd800 && unit < 0xdc00;
const isLow = (unit: number) => unit >= 0xdc00 && unit < 0xe000;

/** For each unit of `text`, the place in the chain of drafts that it came from; 0 for the model's own. */
export function places(text: string, runs: DraftRun[]): Uint8Array {
  const places = new Uint8Array(text.length);
  const hasPairs = PAIR.test(text);
  let at = 0;
  for (const [count, position] of runs) {
    const place = Math.min(position, POSITIONS);
    if (!hasPairs) {
      places.fill(place, at, at + count);
      at += count;
      continue;
    }
    for (let i = 0; i < count && at < text.length; i += 1) {
      const units = isHigh(text.charCodeAt(at)) && isLow(text.charCodeAt(at + 1)) ? 2 : 1;
      places.fill(place, at, at + units);
      at += units;
    }
  }
  return places;
}

/** The pieces of a text by where they came from. */
export function pieces(text: string, runs: DraftRun[]): { text: string; place: number }[] {
  const of = places(text, runs);
  const pieces: { text: string; place: number }[] = [];
  let from = 0;
  for (let at = 1; at <= text.length; at += 1) {
    if (at < text.length && of[at] === of[from]) continue;
    pieces.push({ text: text.slice(from, at), place: of[from] ?? 0 });
    from = at;
  }
  return pieces;
}
