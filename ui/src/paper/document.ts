import around from "./around.css?raw";
import styles from "./paper.css?raw";

/** A chat on paper as an HTML file that needs nothing beside it. */
export function fileOf(paper: HTMLElement, title: string): string {
  const file = document.implementation.createHTMLDocument("");
  file.title = title;
  const policy = file.createElement("meta");
  policy.setAttribute("http-equiv", "Content-Security-Policy");
  // Nothing is run and nothing is fetched, whatever opens the file.
  policy.setAttribute(
    "content",
    "default-src 'none'; img-src data:; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'",
  );
  const charset = file.createElement("meta");
  charset.setAttribute("charset", "utf-8");
  const viewport = file.createElement("meta");
  viewport.setAttribute("name", "viewport");
  viewport.setAttribute("content", "width=device-width");
  const style = file.createElement("style");
  style.textContent = styles + around;
  file.head.prepend(charset, policy, viewport);
  file.head.append(style);
  file.body.append(file.importNode(paper, true));
  return `<!doctype html>\n${file.documentElement.outerHTML}\n`;
}
