import type { DraftRun } from "../bridge/bindings";
import { align } from "./align";
import { POSITIONS, places } from "./runs";

/** What stands in a reply and is not of its text, or is drawn from it in another order. */
const NOT_TEXT = "figcaption, button, input, .formula, .formula-source";

/** Whether the webview can mark text without changing the page. */
export const CAN_PAINT = typeof globalThis.Highlight === "function" && "highlights" in globalThis.CSS;

/** The name of a position's marks in the style sheet. */
const markName = (position: number): string => `draft-${position}`;

/** The marks of one text. */
export class Paint {
  #ranges: { position: number; range: StaticRange }[] = [];

  /** Marks the text under `root`, which was written as `source`, by where it came from. */
  apply(root: Element, source: string, runs: DraftRun[]): void {
    const before = this.#ranges;
    this.#ranges = rangesOf(root, source, runs);
    for (const { position, range } of this.#ranges) marks(position).add(range);
    remove(before);
  }

  clear(): void {
    remove(this.#ranges);
    this.#ranges = [];
  }
}

function remove(ranges: { position: number; range: StaticRange }[]): void {
  for (const { position, range } of ranges) marks(position).delete(range);
}

/** All that is marked as of one position, in all texts. */
function marks(position: number): Highlight {
  const name = markName(position);
  const known = CSS.highlights.get(name);
  if (known) return known;
  const made = new Highlight();
  CSS.highlights.set(name, made);
  return made;
}

function rangesOf(root: Element, source: string, runs: DraftRun[]) {
  if (!runs.some(([, position]) => position > 0)) return [];
  const nodes = textNodes(root);
  const rendered = nodes.map((node) => node.data).join("");
  const shown = shownPlaces(source, rendered, runs);
  const ranges: { position: number; range: StaticRange }[] = [];
  let begin = 0;
  for (const node of nodes) {
    for (const { from, to, position } of stretches(shown, rendered, begin, begin + node.length)) {
      const [startOffset, endOffset] = [from - begin, to - begin];
      const range = new StaticRange({ startContainer: node, startOffset, endContainer: node, endOffset });
      ranges.push({ position, range });
    }
    begin += node.length;
  }
  return ranges;
}

/** The same as `places` for a rendered text. What is not found in the source is as what stands before it. */
export function shownPlaces(source: string, rendered: string, runs: DraftRun[]): Uint8Array {
  const of = places(source, runs);
  const shown = new Uint8Array(rendered.length);
  let last = 0;
  align(source, rendered).forEach((at, unit) => {
    if (at >= 0) last = of[at] ?? 0;
    shown[unit] = last;
  });
  return shown;
}

/** Stretches of one draft position between two places, without white space at their ends. */
export function stretches(shown: Uint8Array, text: string, begin: number, end: number) {
  const found: { from: number; to: number; position: number }[] = [];
  for (let from = begin; from < end; ) {
    const position = shown[from] as number;
    let to = from + 1;
    while (to < end && shown[to] === position) to += 1;
    const words = text.slice(from, to);
    const [first, last] = [from + words.length - words.trimStart().length, from + words.trimEnd().length];
    if (position >= 1 && position <= POSITIONS && first < last)
      found.push({ from: first, to: last, position });
    from = to;
  }
  return found;
}

function textNodes(root: Element): Text[] {
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT, (node) => {
    if (node instanceof Text) return NodeFilter.FILTER_ACCEPT;
    return node instanceof Element && node.matches(NOT_TEXT)
      ? NodeFilter.FILTER_REJECT
      : NodeFilter.FILTER_SKIP;
  });
  const nodes: Text[] = [];
  while (walker.nextNode()) nodes.push(walker.currentNode as Text);
  return nodes;
}
