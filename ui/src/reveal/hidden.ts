import { decodeEntities } from "../markdown/entities";
import { lex, type Token, type Tokens } from "../markdown/lex";

/** The bullet or the number of a list's item, and what makes it a task. */
const MARKER = /^([ \t]*(?:[-*+]|\d{1,9}[.)]))(?:[ \t]+\[[ xX]\])?/;
const REFERENCE = /&#?\w+;/g;
const FENCE_LINE = /^ {0,3}(?:`{3,}|~{3,})[^\n]*/;

/**
 * Which units of a markdown text are not shown although they look like words: addresses of links and images, languages
 * of code, numbers of items, names of characters, formulas (which are drawn). Marks such as stars need no care here.
 */
export function hiddenUnits(source: string): Uint8Array {
  const hidden = new Uint8Array(source.length);
  hide(lex(source), 0, source.length, source, hidden);
  return hidden;
}

/** Looks through tokens that lie one after the other between two places of the source. Returns where they end. */
function hide(tokens: Token[], from: number, to: number, source: string, hidden: Uint8Array): number {
  let next = from;
  for (const token of tokens) {
    // In a nested block the lines of the source have marks at their beginnings that the token lacks.
    const found = [token.raw, firstLine(token.raw)].find((raw) => {
      const at = source.indexOf(raw, next);
      return at >= 0 && at + raw.length <= to;
    });
    if (found === undefined) continue;
    const at = source.indexOf(found, next);
    const whole = found.length === token.raw.length;
    const end = hideIn(token, at, whole ? at + found.length : to, source, hidden);
    next = whole ? at + found.length : end;
  }
  return next;
}

const firstLine = (raw: string): string => /^\n*[^\n]*/.exec(raw)?.[0] ?? "";

/** Looks into a token that begins at `at` and ends at `to` or before. Returns where what it is made of ends. */
function hideIn(token: Token, at: number, to: number, source: string, hidden: Uint8Array): number {
  const { raw } = token;
  let from = at;
  switch (token.type) {
    case "formula":
      hidden.fill(1, at, Math.min(to, at + raw.length));
      return at + firstLine(raw).length;
    case "code":
      from += FENCE_LINE.exec(raw)?.[0].length ?? 0;
      break;
    case "list_item": {
      const [marker = "", bullet = ""] = MARKER.exec(raw) ?? [];
      hidden.fill(1, at, at + marker.length);
      from += bullet.length;
      break;
    }
    case "image":
    case "link": {
      const { text } = token as Tokens.Link | Tokens.Image;
      const start = at + Math.max(0, raw.indexOf(text));
      const end = start + text.length;
      if (token.type === "link") hide(parts(token), start, end, source, hidden);
      hidden.fill(1, end, Math.max(end, at + raw.length));
      return at + raw.length;
    }
    case "text":
      if (parts(token).length) break;
      for (const { 0: name, index } of raw.matchAll(REFERENCE))
        if (decodeEntities(name) !== name) hidden.fill(1, at + index, at + index + name.length);
      return at + raw.length;
  }
  hidden.fill(1, at, from);
  return hide(parts(token), from, to, source, hidden);
}

/** What a token is made of, in the order of the source. */
function parts(token: Token): Token[] {
  if (token.type === "list") return (token as Tokens.List).items;
  if (token.type === "table") {
    const { header, rows } = token as Tokens.Table;
    return [header, ...rows].flatMap((row) => row.flatMap((cell) => cell.tokens));
  }
  return "tokens" in token && token.tokens ? token.tokens : [];
}
