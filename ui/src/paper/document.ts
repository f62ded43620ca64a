import styles from "./paper.css?raw";

/** Nothing is run and nothing is fetched, whatever opens the file. */
const POLICY =
  "default-src 'none'; img-src data:; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

/** What the file has besides: the page around the paper, and how that looks in the dark. */
const AROUND = `
:root { color-scheme: light dark; }
body { margin: 0; padding: 40px 24px 64px; background: #ffffff; }
@media screen and (prefers-color-scheme: dark) {
  body { background: #1c1c1e; }
  .paper { --paper: #1c1c1e; --paper-text: #f1f1f2; --paper-soft: #b9b9be; --paper-line: #48484d;
    --paper-code: #151517; --paper-own: #312f2b; }
}
@media print { body { padding: 0; } }
`;

/** A chat on paper as an HTML file that needs nothing beside it. */
export function fileOf(paper: HTMLElement, title: string): string {
  const file = document.implementation.createHTMLDocument("");
  file.title = title;
  const policy = file.createElement("meta");
  policy.setAttribute("http-equiv", "Content-Security-Policy");
  policy.setAttribute("content", POLICY);
  const charset = file.createElement("meta");
  charset.setAttribute("charset", "utf-8");
  const viewport = file.createElement("meta");
  viewport.setAttribute("name", "viewport");
  viewport.setAttribute("content", "width=device-width");
  const style = file.createElement("style");
  style.textContent = styles + AROUND;
  file.head.prepend(charset, policy, viewport);
  file.head.append(style);
  file.body.append(file.importNode(paper, true));
  return `<!doctype html>\n${file.documentElement.outerHTML}\n`;
}
