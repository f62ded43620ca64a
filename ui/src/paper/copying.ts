import type { Formatted } from "../primitives/clipboard";
import { html, portable } from "./portable";

/** Whether a part of a text that stands in this needs it to mean the same by itself. */
const isForm = (element: Element): boolean =>
  element.matches("pre, code, strong, em, del, .link, ul, ol, table, thead, tbody, tr");
/** Whether a line of text ends here: what surrounds that is the reader's to choose again. */
const isLine = (element: Element): boolean =>
  element.matches("p, li, td, th, blockquote, .heading-1, .heading-2, .heading-3, .heading-4, .markdown");

/** A reply that is drawn, as it is copied: its Markdown for editors, its looks for programs that know some. */
export function formatted(message: number, markdown: string): Formatted {
  // One that uses tools has a text for each round that has written some.
  const drawn = [...document.querySelectorAll(`[data-message="${message}"] .answer`)];
  return { text: markdown, html: drawn.map((part) => html(portable(part))).join("") };
}

/** Lets what is selected of replies be copied as they read, and not as the page draws them. */
export function copySelectionWithForm(): void {
  document.addEventListener("copy", (event) => {
    const selection = document.getSelection();
    if (event.defaultPrevented || !event.clipboardData || !selection || selection.isCollapsed) return;
    const range = selection.getRangeAt(0);
    if (!isOfReplies(range.commonAncestorContainer)) return;
    event.clipboardData.setData("text/plain", selection.toString());
    event.clipboardData.setData("text/html", html(portable(contents(range))));
    event.preventDefault();
  });
}

/** Whether what is selected is of a reply, or reaches over several. */
function isOfReplies(node: Node): boolean {
  const element = node instanceof Element ? node : node.parentElement;
  if (!element || element.closest("textarea, input")) return false;
  return (
    element.closest(".markdown") !== null ||
    element.closest(".conversation")?.querySelector(".markdown") != null
  );
}

/** A copy of what is in `range`, in what it stands in on its line. */
function contents(range: Range): Node {
  let part: Node = range.cloneContents();
  const { commonAncestorContainer: common } = range;
  let around = common instanceof Element ? common : common.parentElement;
  while (around && !isLine(around)) {
    if (isForm(around)) {
      const shell = around.cloneNode(false) as Element;
      shell.append(part);
      part = shell;
    }
    around = around.parentElement;
  }
  const all = document.createDocumentFragment();
  all.append(part);
  return all;
}
