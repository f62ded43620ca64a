/** What can be shown as it looks. */
export type Kind = "mermaid" | "svg" | "html";

/** Longer texts stay code: drawing them would hold up the window. */
const LONGEST: Record<Kind, number> = { mermaid: 20_000, svg: 500_000, html: 500_000 };

/** As what a block of code in a language can be shown; null if as code alone. */
export function kindOf(language: string, code: string): Kind | null {
  const kind = language === "htm" ? "html" : language;
  return (kind === "mermaid" || kind === "svg" || kind === "html") && code.length <= LONGEST[kind]
    ? kind
    : null;
}
