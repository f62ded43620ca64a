import { NOT_TEXT } from "../reveal/paint";
import { matchesIn, type Query } from "./query";

/** Elements that a word goes on through. */
const INLINE = "a,em,strong,del,code,span,sub,sup,mark,kbd";
/** What stands in a message and is not of its text. */
const LEFT_OUT = `${NOT_TEXT}, .file-size`;
/** What the texts of a message stand in, and what its model thought, while that is open. */
const TEXT = ".question, .answer";
const THOUGHT = ".thinking-text";

/** The matches in the text of a message as it is drawn, and in what was thought before it. */
export interface DrawnMatches {
  text: StaticRange[];
  thought: StaticRange[];
}

/** Finds all words of `query` in a message that holds them all. */
export function drawnMatches(message: Element, query: Query): DrawnMatches {
  const of = (selector: string, whole: boolean) =>
    [...message.querySelectorAll(selector)].flatMap((root) => rangesIn(root, query, whole));
  return { text: of(TEXT, false), thought: of(THOUGHT, true) };
}

/** What matches below `root`; with `whole` only if all that is looked for is there. */
export function rangesIn(root: Element, query: Query, whole: boolean): StaticRange[] {
  const pieces: Piece[] = [];
  collect(root, pieces, "");
  const text = pieces.map(({ node, before }) => before + node.data).join("");
  const { parts, complete } = matchesIn(text, query);
  if (whole && !complete) return [];
  const starts: number[] = [];
  let end = 0;
  for (const { node, before } of pieces) {
    starts.push(end + before.length);
    end += before.length + node.length;
  }
  let at = 0;
  /** The piece that holds the unit before `unit`, or the one that `unit` is in. */
  const pieceOf = (unit: number) => {
    while (at + 1 < pieces.length && (starts[at + 1] ?? 0) <= unit) at += 1;
    return at;
  };
  return parts.flatMap(({ from, to }) => {
    const [first, last] = [pieceOf(from), pieceOf(to - 1)];
    const [begin, finish] = [pieces[first]?.node, pieces[last]?.node];
    if (!begin || !finish) return [];
    return new StaticRange({
      startContainer: begin,
      startOffset: from - (starts[first] ?? 0),
      endContainer: finish,
      endOffset: to - (starts[last] ?? 0),
    });
  });
}

/** A stretch of drawn text, and what parts it from the one before. */
interface Piece {
  node: Text;
  before: string;
}

/** Adds all text below `root`. Returns what parts it from what comes next: two paragraphs are no word. */
function collect(root: Node, pieces: Piece[], before: string): string {
  let gap = before;
  for (const child of root.childNodes) {
    if (child instanceof Text) {
      if (child.length > 0) pieces.push({ node: child, before: gap });
      gap = child.length > 0 ? "" : gap;
    } else if (child instanceof Element) {
      if (child.matches(LEFT_OUT) || child.tagName === "BR") gap = "\n";
      else if (child.matches(INLINE)) gap = collect(child, pieces, gap);
      else {
        collect(child, pieces, "\n");
        gap = "\n";
      }
    }
  }
  return gap;
}
