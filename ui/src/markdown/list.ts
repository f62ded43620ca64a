import { lex, type Token, type Tokens } from "./lex";
import { settle } from "./settle";

const MARKER = /^(?:([*+-])|\d{1,9}([.)]))[ \t]/;
const ITEMS = /^(?:[*+-]|\d{1,9}[.)])[ \t]/gm;
const BLANK_LINE_AT_END = /\n[ \t]*\n$/;

/**
 * A list that is still being written. An item is read for good when the next one begins, so a long list costs no more.
 */
export class OpenList {
  /** What was read for good, of which these are the items. */
  #read = "";
  #items: Tokens.ListItem[] = [];
  #loose = false;
  /** Whether a blank line follows them. */
  #gap = false;

  /** The blocks of a tail that begins with a list; null if it begins with something else. */
  blocks(tail: string): Token[] | null {
    const marker = kindOf(tail);
    if (marker === null) return null;
    if (this.#read === "" || !tail.startsWith(this.#read)) this.#begin();
    ITEMS.lastIndex = this.#read.length + 1;
    for (let next = ITEMS.exec(tail); next; next = ITEMS.exec(tail)) {
      if (kindOf(next[0]) === marker && !this.#keep(tail.slice(0, next.index))) return null;
    }
    const [last, ...rest] = lex(settle(tail.slice(this.#read.length)));
    if (last ? last.type !== "list" : this.#items.length === 0) return null;
    return [this.#whole(tail, (last as Tokens.List | undefined) ?? null), ...rest];
  }

  #begin(): void {
    this.#read = "";
    this.#items = [];
    this.#loose = false;
    this.#gap = false;
  }

  /** Reads what comes before the next item. Returns false if it is more than an item. */
  #keep(text: string): boolean {
    const source = text.slice(this.#read.length);
    const [list, more] = lex(source) as (Tokens.List | undefined)[];
    if (list?.type !== "list" || list.items.length !== 1 || more) return false;
    this.#loose ||= list.loose || this.#gap;
    this.#gap = BLANK_LINE_AT_END.test(source);
    this.#items.push(...list.items);
    this.#read = text;
    return true;
  }

  #whole(raw: string, last: Tokens.List | null): Tokens.List {
    const loose = this.#loose || (last !== null && (last.loose || this.#gap));
    const items = [...this.#items, ...(last?.items ?? [])];
    if (loose) for (const item of items) loosen(item);
    const number = Number.parseInt(raw, 10);
    const ordered = !Number.isNaN(number);
    return { type: "list", raw, ordered, start: ordered ? number : "", loose, items };
  }
}

/** What the items of the list that `text` begins with begin with, without their numbers; null if it is no list. */
function kindOf(text: string): string | null {
  const marker = MARKER.exec(text);
  return marker?.[1] ?? marker?.[2] ?? null;
}

/** The words of a loose list stand in paragraphs. */
function loosen(item: Tokens.ListItem): void {
  if (item.loose) return;
  item.loose = true;
  for (const token of item.tokens) if (token.type === "text") token.type = "paragraph";
}
