import { Hooks, Lexer, type Token, Tokenizer, type TokenizerThis, type Tokens } from "marked";
import {
  type FormulaSource,
  formulaAt,
  formulaBlock,
  formulaLine,
  formulasIn,
  wordsBeforeFormula,
} from "./formulas";
import { pieces } from "./pieces";

export type { Token, Tokens };

/** A formula as a block, or among words. */
export interface FormulaToken extends FormulaSource {
  type: "formula";
}

/** Deeper nesting than anyone writes is shown as plain text, so that hostile text cannot exhaust the stack. */
const MAX_DEPTH = 24;
const LONGEST_HEADING = 2_000;

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

  /** Headings are short, and lines of a formula that look like one are none. Both bound the time that looking takes. */
  override lheading(src: string) {
    const near = firstLines(src, LONGEST_HEADING);
    const formula = this.lexer.state.top ? formulaLine(near) : -1;
    return super.lheading(formula < 0 ? near : near.slice(0, formula));
  }

  /** Words end where a formula begins. */
  override inlineText(src: string) {
    const end = wordsBeforeFormula(src);
    return super.inlineText(end < 0 ? src : src.slice(0, end));
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

const MAY_HOLD_FORMULAS = /\$|\\[([]/;

/** What marked does not know. */
const extensions = {
  block: [(src: string) => asToken(formulaBlock(src))],
  // In a list every line is looked at by itself.
  startBlock: [
    function (this: TokenizerThis, src: string) {
      return this.lexer.state.top ? formulaLine(src) : -1;
    },
  ],
  inline: [(src: string, before: Token[]) => asToken(formulaAt(src, 0, before.at(-1)?.raw.at(-1)))],
  renderers: {},
  childTokens: {},
};

function asToken(formula: FormulaSource | null): FormulaToken | undefined {
  return formula ? { type: "formula", ...formula } : undefined;
}

class ModelLexer extends Lexer {
  #depth = 0;
  /** The text between whose marks words are emphasised. */
  #run = "";
  readonly #hooks = new Hooks();

  constructor() {
    super({ gfm: true, breaks: true, tokenizer: new ModelTokenizer(), extensions });
    this.#hooks.emStrongMask = (masked) => this.#maskFormulas(masked);
  }

  /** A star in a formula is no mark. What is masked already, such as code, holds no formula. */
  #maskFormulas(masked: string): string {
    let text = "";
    for (const { from, to } of formulasIn(this.#run)) {
      if (/[$+]/.test(masked[from] ?? "")) text += masked.slice(text.length, from) + "+".repeat(to - from);
    }
    return text + masked.slice(text.length);
  }

  override inlineTokens(src: string, tokens: Token[] = []): Token[] {
    for (const piece of pieces(src)) this.#inlinePiece(piece, tokens);
    return tokens;
  }

  #inlinePiece(src: string, tokens: Token[]): void {
    if (this.#depth >= MAX_DEPTH) {
      tokens.push({ type: "text", raw: src, text: src, escaped: false });
      return;
    }
    const outer = this.#run;
    this.#depth += 1;
    this.#run = src;
    // A mask takes time, and most text has no formulas.
    this.options.hooks = MAY_HOLD_FORMULAS.test(src) ? this.#hooks : null;
    try {
      super.inlineTokens(src, tokens);
    } finally {
      this.#depth -= 1;
      this.#run = outer;
    }
  }
}

/** The lines at the beginning of `text` that have no more characters than this. */
function firstLines(text: string, characters: number): string {
  return text.length <= characters ? text : text.slice(0, text.lastIndexOf("\n", characters - 1) + 1);
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
