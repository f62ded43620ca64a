import { lex, type Token, type Tokens } from "./lex";
import { OpenList } from "./list";
import { settle } from "./settle";
import { Splitter } from "./split";

/** The blocks of one text that grows. Reading the same text again costs nothing. */
export class MarkdownDocument {
  #splitter = new Splitter();
  readonly #list = new OpenList();
  #read = "";
  #complete = false;
  #blocks: readonly Token[] = [];

  /** The blocks of `text`, of which `complete` says whether more will follow. */
  blocks(text: string, complete: boolean): readonly Token[] {
    if (text === this.#read && complete === this.#complete) return this.#blocks;
    if (this.#complete || !text.startsWith(this.#read)) {
      this.#splitter = new Splitter();
      this.#read = "";
    }
    this.#splitter.append(text.slice(this.#read.length));
    if (complete) this.#splitter.finish();
    this.#read = text;
    this.#complete = complete;
    this.#blocks = [...this.#splitter.frozen, ...this.#openBlocks()];
    return this.#blocks;
  }

  #openBlocks(): Token[] {
    const tail = this.#splitter.tail;
    if (this.#splitter.inFence) return [openCode(tail)];
    return this.#list.blocks(tail) ?? lex(settle(tail));
  }
}

/** A code block whose end has not come: shown as it is, without reading it again each time. */
function openCode(tail: string): Tokens.Code {
  const firstLine = tail.indexOf("\n");
  const fence = tail.slice(0, firstLine).trim();
  const lang = fence.replace(/^(?:`+|~+)\s*/, "");
  const text = tail.slice(firstLine + 1).replace(/(?:^|\n) {0,3}[`~]*$/, "");
  return { type: "code", raw: tail, lang, text };
}
