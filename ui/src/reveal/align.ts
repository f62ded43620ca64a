import { hiddenUnits } from "./hidden";

/**
 * How many units must be alike for two texts to have found each other again, and how many of either may lie between: a
 * short way is tried first, and believed sooner than a long one.
 */
const TRIES = [
  { sure: 12, reach: 40 },
  { sure: 4, reach: 40 },
  { sure: 12, reach: 300 },
];
/** How far from the last one a mark is sought. */
const MARKS = 200;
/** Comparisons after which it is given up: texts that have so little in common are no source and no rendering. */
const MAX_COMPARISONS = 4_000_000;

/** A character that marks of markdown are made of, or white space. All others are shown as they are written. */
const isMark = (unit: number): boolean =>
  unit <= 0x20 ||
  (unit >= 0x21 && unit <= 0x2f) ||
  (unit >= 0x3a && unit <= 0x40) ||
  (unit >= 0x5b && unit <= 0x60) ||
  (unit >= 0x7b && unit <= 0x7e) ||
  unit === 0xa0;

/**
 * For each unit of a rendered text where it stands in its markdown source; -1 where that is not known.
 *
 * What is rendered is the source without marks, addresses and the like, in the same order. So the words are followed
 * through both texts, and marks found between them. Where they part, as at a character reference, the nearest place is
 * sought from which both go on alike.
 */
export function align(source: string, rendered: string): Int32Array {
  const hidden = hiddenUnits(source);
  const from = solid(source, (at) => hidden[at] === 0);
  const to = solid(rendered, () => true);
  const found = new Int32Array(rendered.length).fill(-1);
  const same = (a: number, b: number) =>
    source.charCodeAt(from[a] as number) === rendered.charCodeAt(to[b] as number);

  let comparisonsLeft = MAX_COMPARISONS;
  const goOnAlike = (a: number, b: number, sure: number): boolean => {
    const length = Math.min(sure, Math.max(from.length - a, to.length - b));
    for (let i = 0; i < length; i += 1) {
      comparisonsLeft -= 1;
      if (a + i >= from.length || b + i >= to.length || !same(a + i, b + i)) return false;
    }
    return true;
  };

  let a = 0;
  let b = 0;
  while (a < from.length && b < to.length && comparisonsLeft > 0) {
    if (same(a, b)) {
      found[to[b] as number] = from[a] as number;
      a += 1;
      b += 1;
      continue;
    }
    const skipped = detour(a, b, from.length, to.length, goOnAlike) ?? { source: 0, rendered: 1 };
    a += skipped.source;
    b += skipped.rendered;
    // What is alike before the place belongs to it, and what was taken for that does not.
    let alike = 0;
    while (alike < a && alike < b && same(a - 1 - alike, b - 1 - alike)) alike += 1;
    for (let i = 1; i <= alike + skipped.rendered && i <= b; i += 1)
      found[to[b - i] as number] = i <= alike ? (from[a - i] as number) : -1;
  }
  fillMarks(source, rendered, found);
  return found;
}

/** Where the units are that are shown as they are written. */
function solid(text: string, counts: (at: number) => boolean): Int32Array {
  const places = new Int32Array(text.length);
  let count = 0;
  for (let at = 0; at < text.length; at += 1) {
    if (isMark(text.charCodeAt(at)) || !counts(at)) continue;
    places[count] = at;
    count += 1;
  }
  return places.subarray(0, count);
}

/** The least that must be left out of both texts until they go on alike. */
function detour(
  a: number,
  b: number,
  sourceEnd: number,
  renderedEnd: number,
  goOnAlike: (a: number, b: number, sure: number) => boolean,
): { source: number; rendered: number } | null {
  for (const { sure, reach } of TRIES) {
    for (let length = 1; length <= reach; length += 1) {
      for (let rendered = 0; rendered <= length; rendered += 1) {
        const source = length - rendered;
        if (a + source > sourceEnd || b + rendered > renderedEnd) continue;
        if (goOnAlike(a + source, b + rendered, sure)) return { source, rendered };
      }
    }
  }
  return null;
}

/** Marks that are shown, as commas are: each is sought between the words around it. */
function fillMarks(source: string, rendered: string, found: Int32Array): void {
  let before = -1;
  for (let start = 0; start < rendered.length; ) {
    if ((found[start] as number) >= 0) {
      before = found[start] as number;
      start += 1;
      continue;
    }
    let end = start;
    while (end < rendered.length && (found[end] as number) < 0) end += 1;
    const after = end < rendered.length ? (found[end] as number) : source.length;
    for (let at = start; at < end; at += 1) {
      const place = source
        .slice(before + 1, Math.min(after, before + 1 + MARKS))
        .indexOf(rendered[at] as string);
      if (place < 0) continue;
      before += 1 + place;
      found[at] = before;
    }
    start = end;
  }
}
