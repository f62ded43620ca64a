import { Lexer, type Token, Tokenizer, type Tokens } from "marked";

export type { Token, Tokens };

/** Deeper nesting than anyone writes is shown as plain text, so that hostile text cannot exhaust the stack. */
const MAX_DEPTH = 24;

/** Markdown without its doors to the outside: HTML stays text, and no line can redefine what another line links to. */
class ModelTokenizer extends Tokenizer {
  #depth = 0;

  override html() {
    return undefined;
  }

  override tag() {
    return undefined;
  }

  override def() {
    return undefined;
  }

  override blockquote(src: string) {
    return this.#nested(() => super.blockquote(src));
  }

  override list(src: string) {
    return this.#nested(() => super.list(src));
  }

  #nested<T>(read: () => T): T | undefined {
    if (this.#depth >= MAX_DEPTH) return undefined;
    this.#depth += 1;
    try {
      return read();
    } finally {
      this.#depth -= 1;
    }
  }
}

class ModelLexer extends Lexer {
  #depth = 0;

  constructor() {
    super({ gfm: true, breaks: true, tokenizer: new ModelTokenizer() });
  }

  override inlineTokens(src: string, tokens: Token[] = []): Token[] {
    if (this.#depth >= MAX_DEPTH) {
      tokens.push({ type: "text", raw: src, text: src, escaped: false });
      return tokens;
    }
    this.#depth += 1;
    try {
      return super.inlineTokens(src, tokens);
    } finally {
      this.#depth -= 1;
    }
  }
}

/** Where the blocks of `text` begin; nothing inside them is read. */
export function blockStarts(text: string): number[] {
  const starts: number[] = [];
  let offset = 0;
  for (const token of new ModelLexer().blockTokens(text)) {
    if (token.type !== "space") starts.push(offset);
    offset += token.raw.length;
  }
  return starts;
}

/** The blocks of `text` with all that is in them. */
export function lex(text: string): Token[] {
  return new ModelLexer().lex(text).filter((token) => token.type !== "space");
}
