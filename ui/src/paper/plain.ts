import { MarkdownDocument } from "../markdown/document";
import { plainText } from "../markdown/Inline";
import type { Token, Tokens } from "../markdown/lex";

/** What a text says, without the marks of Markdown: for where they would be in the way. */
export const withoutMarks = (text: string): string => blocks(new MarkdownDocument().blocks(text, true));

function blocks(tokens: readonly Token[], between = "\n\n"): string {
  return tokens
    .filter(({ type }) => type !== "space" && type !== "checkbox" && type !== "hr")
    .map(block)
    .join(between);
}

function block(token: Token): string {
  switch (token.type) {
    case "code":
      return (token as Tokens.Code).text;
    case "blockquote":
      return blocks((token as Tokens.Blockquote).tokens);
    case "list":
      return list(token as Tokens.List);
    case "table": {
      const { header, rows } = token as Tokens.Table;
      return [header, ...rows].map((row) => row.map(({ tokens }) => plainText(tokens)).join("\t")).join("\n");
    }
    case "formula":
      return token.raw.trim();
    default:
      return "tokens" in token && token.tokens ? plainText(token.tokens) : plainText([token]);
  }
}

function list({ items, ordered, start, loose }: Tokens.List): string {
  const lines = items.map(({ tokens, task, checked }, index) => {
    const mark = ordered ? `${Number(start || 1) + index}.` : "•";
    const box = task ? (checked ? "☑ " : "☐ ") : "";
    const text = blocks(tokens, loose ? "\n\n" : "\n");
    return `${mark} ${box}${text.replaceAll("\n", `\n${" ".repeat(mark.length + 1)}`)}`;
  });
  return lines.join(loose ? "\n\n" : "\n");
}
