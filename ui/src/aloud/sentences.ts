import { MarkdownDocument } from "../markdown/document";
import { plainText } from "../markdown/Inline";
import type { Token, Tokens } from "../markdown/lex";

/** What is said of a reply, a sentence each: neither code nor formulas, which nobody wants spelled out. */
export const sentencesOf = (text: string): string[] =>
  passages(new MarkdownDocument().blocks(text, true)).flatMap(sentencesIn);

/** The sentences of a text without marks, but for those without a word. */
export function sentencesIn(text: string): string[] {
  const pieces = [...new Intl.Segmenter(undefined, { granularity: "sentence" }).segment(text)];
  return pieces.map(({ segment }) => segment.trim()).filter((sentence) => /[\p{L}\p{N}]/u.test(sentence));
}

function passages(tokens: readonly Token[]): string[] {
  return tokens.flatMap((token) => {
    switch (token.type) {
      case "code":
      case "formula":
      case "space":
      case "hr":
      case "checkbox":
        return [];
      case "blockquote":
        return passages((token as Tokens.Blockquote).tokens);
      case "list":
        return (token as Tokens.List).items.flatMap(({ tokens }) => passages(tokens));
      case "table": {
        const { header, rows } = token as Tokens.Table;
        return [header, ...rows].map((row) => row.map(({ tokens }) => said(tokens)).join(", "));
      }
      default:
        return [said([token])];
    }
  });
}

function said(tokens: readonly Token[]): string {
  return tokens
    .map((token) => {
      if (token.type === "formula") return "";
      return "tokens" in token && token.tokens ? said(token.tokens) : plainText([token]);
    })
    .join("");
}
