/** Elements that mean the same in other programs, with the attributes that they keep there. */
const KEPT: Record<string, readonly string[]> = {
  a: ["href"],
  blockquote: ["dir"],
  br: [],
  code: [],
  del: [],
  details: [],
  em: [],
  h1: ["dir"],
  h2: ["dir"],
  hr: [],
  img: ["alt", "src"],
  li: ["dir"],
  ol: ["dir", "start"],
  p: ["dir"],
  pre: ["dir"],
  section: [],
  strong: [],
  summary: [],
  table: ["dir"],
  tbody: [],
  td: [],
  th: [],
  thead: [],
  tr: [],
  ul: ["dir"],
};
/** The parts of formulas, with what says how they are laid out. */
const MATH_PARTS: ReadonlySet<string> = new Set([
  "math",
  "menclose",
  "merror",
  "mfrac",
  "mglyph",
  "mi",
  "mlabeledtr",
  "mmultiscripts",
  "mn",
  "mo",
  "mover",
  "mpadded",
  "mphantom",
  "mprescripts",
  "mroot",
  "mrow",
  "ms",
  "mspace",
  "msqrt",
  "mstyle",
  "msub",
  "msubsup",
  "msup",
  "mtable",
  "mtd",
  "mtext",
  "mtr",
  "munder",
  "munderover",
  "none",
  "semantics",
]);
const MATH_ATTRIBUTES = [
  "accent",
  "accentunder",
  "columnalign",
  "columnlines",
  "columnspan",
  "depth",
  "display",
  "displaystyle",
  "fence",
  "form",
  "height",
  "largeop",
  "linethickness",
  "lspace",
  "mathvariant",
  "maxsize",
  "minsize",
  "movablelimits",
  "notation",
  "rowlines",
  "rowspan",
  "rspace",
  "scriptlevel",
  "separator",
  "stretchy",
  "symmetric",
  "voffset",
  "width",
];
/** Whether this is a control, or is drawn over the text. */
const isLeftOut = (element: Element): boolean => element.matches("button, figcaption, .wake, .off-screen");
/** Where a link may lead. */
const ADDRESS = /^(?:https?|mailto):/;
/** What a picture may be: it comes along, and nothing is fetched. */
const PICTURE = /^data:image\/(?:png|jpeg|webp|gif);/;
/** What people wrote: in it lines are lines. */
const OWN = ".question, .own";
/** How a cell is aligned, by the class that says so on the page. */
const ALIGN = /\balign-(left|right|center)\b/;
/** Classes by which a file of its own is styled. */
const CLASSES: ReadonlySet<string> = new Set(["file", "own", "picture", "speaker", "turn"]);

/**
 * What is drawn below `drawn`, as other programs take it: what people wrote and read, with headings, lists, tables,
 * links, code and formulas as HTML knows them. Of elements and attributes only those of the lists above are made. The
 * first level of headings in a reply is the one below `under`.
 */
export function portable(drawn: Node, under = 0): DocumentFragment {
  const made = document.createDocumentFragment();
  for (const child of drawn.childNodes) made.append(...portableNode(child, under));
  return made;
}

/** The same as text. */
export function html(content: Node): string {
  const place = document.createElement("div");
  place.append(content);
  return place.innerHTML;
}

function portableNode(node: Node, under: number): (Node | string)[] {
  if (node instanceof Text) return [node.data];
  if (!(node instanceof Element) || isLeftOut(node)) return [];
  const tag = node.localName;
  if (tag === "input") return [(node as HTMLInputElement).checked ? "☑ " : "☐ "];
  if (MATH_PARTS.has(tag)) return [math(node)];
  if (node.classList.contains("link")) return [link(node, under)];
  if (node.matches(OWN)) return [ownWords(node)];
  if (node.matches(".formula.display")) return [filled("p", node, under)];
  const attributes = KEPT[tag];
  // What has only a look on the page is what stands in it.
  if (!attributes) return [portable(node, under)];
  const element = filled(heading(node, under) ?? tag, node, under);
  for (const name of attributes) {
    const value = node.getAttribute(name);
    if (value !== null && (name !== "src" || PICTURE.test(value))) element.setAttribute(name, value);
  }
  const align = ALIGN.exec(node.className)?.[1];
  if (align) element.setAttribute("align", align);
  const classes = [...node.classList].filter((name) => CLASSES.has(name));
  if (classes.length > 0) element.className = classes.join(" ");
  return [element];
}

function filled(tag: string, from: Element, under: number): HTMLElement {
  const element = document.createElement(tag);
  element.append(portable(from, under));
  return element;
}

/** Headings have their levels in a class: all are alike to a screen reader of the page. */
function heading(node: Element, under: number): string | null {
  const level = /\bheading-([1-4])\b/.exec(node.className)?.[1];
  return level === undefined ? null : `h${Math.min(Number(level) + under, 6)}`;
}

/** A link says where it leads by its title. */
function link(node: Element, under: number): Node {
  const address = node.getAttribute("title") ?? "";
  if (!ADDRESS.test(address)) return portable(node, under);
  const element = filled("a", node, under);
  element.setAttribute("href", address);
  return element;
}

/** The words of a person. What stands beside them, such as files, comes after them. */
function ownWords(node: Element): Node {
  const words = document.createElement("p");
  words.className = "own";
  words.dir = "auto";
  const others = document.createDocumentFragment();
  for (const child of node.childNodes) {
    if (child instanceof Element && child.localName === "ul") others.append(...portableNode(child, 0));
    else
      for (const [at, line] of (child.textContent ?? "").split("\n").entries())
        words.append(...(at > 0 ? [br()] : []), line);
  }
  others.prepend(words);
  return others;
}

const br = () => document.createElement("br");

function math(node: Element): Node {
  const element = document.createElementNS("http://www.w3.org/1998/Math/MathML", node.localName);
  for (const name of MATH_ATTRIBUTES) {
    const value = node.getAttribute(name);
    if (value !== null) element.setAttribute(name, value);
  }
  for (const child of node.childNodes) {
    if (child instanceof Text) element.append(child.data);
    else if (child instanceof Element && MATH_PARTS.has(child.localName)) element.append(math(child));
  }
  return element;
}
