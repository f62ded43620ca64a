import type { Mark } from "./paint";

/** What moves its content under its own edges. */
const SCROLLERS = "pre, .table-scroll";

/** The boxes behind a text that is being written. Unlike highlights they cost nothing for lines that have none. */
export class Boxes {
  #layer: HTMLElement;
  #range = document.createRange();
  /** The style of each box, as it was given. */
  #styles: string[] = [];

  /** `layer` lies behind the text and is of its size. */
  constructor(layer: HTMLElement) {
    this.#layer = layer;
  }

  /**
   * Draws a box for every line of every mark, whose name is its class, a caret at the end of `written`, and nothing
   * else any more.
   */
  show(marks: Mark[], written: Text | null): void {
    const boxes = this.#places(marks, written);
    const { children } = this.#layer;
    while (children.length > boxes.length) children[boxes.length]?.remove();
    boxes.forEach(({ name, style }, index) => {
      const known = children[index] as HTMLElement | undefined;
      const box = known ?? this.#layer.appendChild(document.createElement("i"));
      if (box.className !== name) box.className = name;
      if (!known || this.#styles[index] !== style) box.style.cssText = style;
    });
    this.#styles = boxes.map(({ style }) => style);
  }

  #places(marks: Mark[], written: Text | null): { name: string; style: string }[] {
    if (marks.length === 0 && written === null) return [];
    const origin = this.#layer.getBoundingClientRect();
    const edges = new Map<Element, DOMRect>();
    /** The lines of a part of `node`, as far as they are seen. */
    const lines = (node: Node, from: number, to: number) => {
      this.#range.setStart(node, from);
      this.#range.setEnd(node, to);
      const scroller = node.parentElement?.closest(SCROLLERS);
      const edge = scroller && (edges.get(scroller) ?? scroller.getBoundingClientRect());
      if (scroller && edge) edges.set(scroller, edge);
      return [...this.#range.getClientRects()].flatMap(({ left, right, top, height }) => {
        const [begin, end] = [Math.max(left, edge?.left ?? left), Math.min(right, edge?.right ?? right)];
        return begin < end ? [{ left: begin, width: end - begin, top, height }] : [];
      });
    };
    const sized = (name: string, pixels: number) => `${name}: ${pixels.toFixed(1)}px`;
    const place = (left: number, top: number, height: number) =>
      [sized("left", left - origin.left), sized("top", top - origin.top), sized("height", height)].join("; ");
    const boxes = marks.flatMap(({ name, range: { startContainer, startOffset, endOffset } }) =>
      lines(startContainer, startOffset, endOffset).map(({ left, width, top, height }) => ({
        name,
        style: `${place(left, top, height)}; ${sized("width", width)}`,
      })),
    );
    const last = written && lines(written, Math.max(0, written.length - 1), written.length).at(-1);
    if (last) boxes.push({ name: "caret", style: place(last.left + last.width + 1, last.top, last.height) });
    return boxes;
  }
}
