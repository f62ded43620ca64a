/** So many characters are kept: more than a model can read, so that no file of a chat is forgotten for another. */
const MOST_CHARACTERS = 32 << 20;

/** What models make of texts. */
export class TokenCounts {
  /** By text, and for each by model; the oldest text first. */
  readonly #counts = new Map<string, Map<string, number>>();
  readonly #most: number;
  #characters = 0;

  /** `most`: how many characters all texts together may have. The newest is kept in any case. */
  constructor(most = MOST_CHARACTERS) {
    this.#most = most;
  }

  /** How many tokens `model` makes of a text, if that was counted not long ago. */
  of(model: string | undefined, text: string): number | undefined {
    return model === undefined ? undefined : this.#counts.get(text)?.get(model);
  }

  keep(model: string, text: string, tokens: number): void {
    const counts = this.#counts.get(text) ?? new Map<string, number>();
    if (!this.#counts.delete(text)) this.#characters += text.length;
    this.#counts.set(text, counts.set(model, tokens));
    for (const oldest of this.#counts.keys()) {
      if (this.#characters <= this.#most || oldest === text) break;
      this.#counts.delete(oldest);
      this.#characters -= oldest.length;
    }
  }
}
