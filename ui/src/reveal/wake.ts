import type { DraftRun } from "../bridge/bindings";
import { lastTextNodes, type Mark, marksIn, shownPlaces } from "./paint";
import { POSITIONS, places } from "./runs";

/** How long a word keeps its look before it fades by a step, in milliseconds. */
export const STEP = 1400;
/** Steps until a word is plain. */
const STEPS = 4;
/** Units of the source that are tinted: some three lines. A part of them is a step. */
const REACH = 320;
/** Units that must be alike for the end of a source and the end of its rendering to be known as the same. */
const ANCHOR = 12;

/** When a text that grows had which length. */
export class Arrivals {
  #lengths: { length: number; at: number }[] = [];

  grow(length: number, at: number): void {
    if (length > (this.#lengths.at(-1)?.length ?? 0)) this.#lengths.push({ length, at });
    // What is older has faded.
    while ((this.#lengths[1]?.at ?? at) < at - STEP * STEPS) this.#lengths.shift();
  }

  /** The steps that each of the units from `begin` on has faded by. */
  ages(begin: number, length: number, now: number, still: boolean): Uint8Array {
    const ages = new Uint8Array(length - begin).fill(STEPS);
    let from = 0;
    for (const { length: to, at } of this.#lengths) {
      const age = still ? 0 : Math.min(STEPS, Math.floor((now - at) / STEP));
      ages.fill(age, Math.max(0, from - begin), Math.max(0, to - begin));
      from = to;
    }
    if (!still)
      for (let unit = 0; unit < ages.length; unit += 1) {
        const away = Math.floor((STEPS * (ages.length - 1 - unit)) / REACH);
        ages[unit] = Math.max(ages[unit] as number, Math.min(away, STEPS));
      }
    return ages;
  }
}

/**
 * The marks of the newest words of a text that is being written under `root`: by how far ahead they were guessed, and
 * how long ago. Only the end of both texts is compared, so a long text costs what a short one does. `still`: nothing
 * fades, as people may want it.
 */
export function wakeMarks(
  root: Element,
  source: string,
  runs: DraftRun[],
  arrivals: Arrivals,
  now: number,
  still: boolean,
): Mark[] {
  const begin = Math.max(0, source.length - REACH);
  const of = places(source, runs).subarray(begin);
  const ages = arrivals.ages(begin, source.length, now, still);
  const kinds = of.map((place, unit) => {
    const age = ages[unit] as number;
    return place === 0 || age >= STEPS ? 0 : place + POSITIONS * age;
  });
  if (kinds.every((kind) => kind === 0)) return [];
  const nodes = lastTextNodes(root, REACH);
  const tail = source.slice(begin);
  const rendered = nodes.map((node) => node.data).join("");
  const anchor = anchorOf(tail, rendered);
  const shown = new Uint8Array(rendered.length);
  shown.set(
    shownPlaces(tail.slice(anchor.tail), rendered.slice(anchor.rendered), kinds.subarray(anchor.tail)),
    anchor.rendered,
  );
  return marksIn(nodes, shown, nameOf);
}

/** The classes of a place in the chain of drafts and an age. */
const nameOf = (kind: number): string =>
  `draft-${((kind - 1) % POSITIONS) + 1} faded-${Math.floor((kind - 1) / POSITIONS)}`;

/** Where the end of a source and the end of its rendering first go on alike. The source is never the shorter one. */
export function anchorOf(tail: string, rendered: string): { tail: number; rendered: number } {
  for (let at = 0; at + ANCHOR <= rendered.length; at += ANCHOR / 3) {
    const latest = tail.length - (rendered.length - at);
    const found = latest < 0 ? -1 : tail.lastIndexOf(rendered.slice(at, at + ANCHOR), latest);
    if (found >= 0) return { tail: found, rendered: at };
  }
  return { tail: 0, rendered: 0 };
}
