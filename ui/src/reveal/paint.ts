import type { DraftRun } from "../bridge/bindings";
import { align } from "./align";
import { places } from "./runs";

/** What stands in a reply and is not of its text, or is drawn from it in another order. */
export const NOT_TEXT = ["figcaption", "button", "input", ".formula", ".formula-source"].join(", ");

/** Whether the webview can mark text without changing the page. */
export const CAN_PAINT = typeof globalThis.Highlight === "function" && "highlights" in globalThis.CSS;

/** A stretch of a page's text, and the name that the style sheet has for its look. */
export interface Mark {
  name: string;
  range: StaticRange;
}

/** What is marked at one time. */
export class Paint {
  #marks: Mark[] = [];

  /** Marks this, and nothing else any more. What was marked so before is left alone: a change draws its text anew. */
  show(marks: Mark[]): void {
    const before = new Map<Node, Mark[]>();
    for (const mark of this.#marks) {
      const { startContainer: node } = mark.range;
      const known = before.get(node);
      if (known) known.push(mark);
      else before.set(node, [mark]);
    }
    this.#marks = marks.map((mark) => {
      const known = before.get(mark.range.startContainer);
      const at = known?.findIndex((one) => isSame(one, mark)) ?? -1;
      if (at >= 0) return known?.splice(at, 1)[0] as Mark;
      highlight(mark.name).add(mark.range);
      return mark;
    });
    for (const gone of before.values()) for (const { name, range } of gone) unmark(name, range);
  }
}

const isSame = (a: Mark, b: Mark): boolean =>
  a.name === b.name && a.range.startOffset === b.range.startOffset && a.range.endOffset === b.range.endOffset;

/** A look that nothing has is no longer looked for whenever a text is drawn. */
function unmark(name: string, range: StaticRange): void {
  const marked = highlight(name);
  marked.delete(range);
  if (marked.size === 0) CSS.highlights.delete(name);
}

/** All that is marked with one look, in all texts. */
function highlight(name: string): Highlight {
  const known = CSS.highlights.get(name);
  if (known) return known;
  const made = new Highlight();
  CSS.highlights.set(name, made);
  return made;
}

/** The marks of a whole text under `root`, which was written as `source`, by where it came from. */
export function marksOf(root: Element, source: string, runs: DraftRun[]): Mark[] {
  if (!runs.some(([, position]) => position > 0)) return [];
  const nodes = textNodes(root);
  const rendered = nodes.map((node) => node.data).join("");
  const shown = shownPlaces(source, rendered, places(source, runs));
  return marksIn(nodes, shown, (position) => `draft-${position}`);
}

/** Marks every stretch of one kind in `nodes`; `shown` has a kind for each of their units, and 0 for those without. */
export function marksIn(nodes: Text[], shown: Uint8Array, nameOf: (kind: number) => string): Mark[] {
  const text = nodes.map((node) => node.data).join("");
  const marks: Mark[] = [];
  let begin = 0;
  for (const node of nodes) {
    for (const { from, to, kind } of stretches(shown, text, begin, begin + node.length)) {
      const [startOffset, endOffset] = [from - begin, to - begin];
      const range = new StaticRange({ startContainer: node, startOffset, endContainer: node, endOffset });
      marks.push({ name: nameOf(kind), range });
    }
    begin += node.length;
  }
  return marks;
}

/** `of`, for the units of a source, as its rendering has it. What is not found is as what stands before it. */
export function shownPlaces(source: string, rendered: string, of: Uint8Array): Uint8Array {
  const shown = new Uint8Array(rendered.length);
  let last = 0;
  align(source, rendered).forEach((at, unit) => {
    if (at >= 0) last = of[at] ?? 0;
    shown[unit] = last;
  });
  return shown;
}

/** Stretches of one kind between two places, without white space at their ends. */
export function stretches(shown: Uint8Array, text: string, begin: number, end: number) {
  const found: { from: number; to: number; kind: number }[] = [];
  for (let from = begin; from < end; ) {
    const kind = shown[from] as number;
    let to = from + 1;
    while (to < end && shown[to] === kind) to += 1;
    const words = text.slice(from, to);
    const [first, last] = [from + words.length - words.trimStart().length, from + words.trimEnd().length];
    if (kind > 0 && first < last) found.push({ from: first, to: last, kind });
    from = to;
  }
  return found;
}

const isText = (node: Node): number => {
  if (node instanceof Text) return NodeFilter.FILTER_ACCEPT;
  return node instanceof Element && node.matches(NOT_TEXT)
    ? NodeFilter.FILTER_REJECT
    : NodeFilter.FILTER_SKIP;
};

const walker = (root: Element): TreeWalker =>
  document.createTreeWalker(root, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT, isText);

function textNodes(root: Element): Text[] {
  const nodes: Text[] = [];
  const walk = walker(root);
  while (walk.nextNode()) nodes.push(walk.currentNode as Text);
  return nodes;
}

/** The last text under `root`, at least `length` units of it if there are as many. */
export function lastTextNodes(root: Element, length: number): Text[] {
  const nodes: Text[] = [];
  const walk = walker(root);
  let node = walk.lastChild() as Text | null;
  for (let units = 0; node !== null && units < length; node = walk.previousNode() as Text | null) {
    nodes.push(node);
    units += node.length;
  }
  return nodes.reverse();
}
