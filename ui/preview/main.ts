import mermaid from "mermaid";
import { bodyOf, isTooMuch, pictureOf } from "./content";

/** What the page asks to be drawn. */
interface Drawing {
  kind: "mermaid" | "svg" | "html";
  text: string;
  /** What the page says, in its language: what is drawn, and what it is told where that cannot be. */
  words: { name: string; tooMuch: string; failed: string };
}

/** So many edges of a diagram are drawn: placing them takes a time that grows faster than their number. */
const MOST_EDGES = 300;

const isDark = matchMedia("(prefers-color-scheme: dark)");
let drawing: Drawing | null = null;

async function draw({ kind, text, words }: Drawing): Promise<void> {
  document.documentElement.dataset.kind = kind;
  if (kind === "mermaid") document.body.replaceChildren(await diagramOf(text, words.failed));
  else document.body.replaceChildren(...shown(kind, text, words));
}

/** A drawing or a page, or why it is not shown. */
function shown(kind: "svg" | "html", text: string, { name, tooMuch }: Drawing["words"]): Node[] {
  const type = kind === "svg" ? "image/svg+xml" : "text/html";
  if (isTooMuch(new DOMParser().parseFromString(text, type).documentElement)) return [note(tooMuch)];
  return kind === "svg" ? [pictureOf(text, name)] : bodyOf(text);
}

function note(words: string): HTMLElement {
  const place = document.createElement("pre");
  place.textContent = words;
  return place;
}

async function diagramOf(text: string, failed: string): Promise<Node> {
  mermaid.initialize({
    startOnLoad: false,
    securityLevel: "strict",
    theme: isDark.matches ? "dark" : "default",
    maxEdges: MOST_EDGES,
    suppressErrorRendering: true,
  });
  try {
    const { svg } = await mermaid.render("diagram", text);
    return document.createRange().createContextualFragment(svg);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return note(`${failed}\n${why}`);
  }
}

addEventListener("message", ({ source, data }: MessageEvent<Drawing>) => {
  if (source !== parent) return;
  drawing = data;
  draw(data);
});
isDark.addEventListener("change", () => drawing && draw(drawing));
// What is shown leads nowhere.
addEventListener("click", (event) => {
  if (event.target instanceof Element && event.target.closest("a, area")) event.preventDefault();
});
addEventListener("submit", (event) => event.preventDefault());
new ResizeObserver(() => parent.postMessage(document.documentElement.offsetHeight, "*")).observe(
  document.documentElement,
);
parent.postMessage("ready", "*");
