interface Count {
  model: string;
  text: string;
  tokens: number;
}

/** How many are kept. Each holds its text, which may be that of a file. */
const CACHED_COUNTS = 64;

/** What models make of texts. */
export class TokenCounts {
  /** The newest first. */
  #counts: Count[] = [];

  /** How many tokens `model` makes of a text, if that was counted not long ago. */
  of(model: string | undefined, text: string): number | undefined {
    return this.#counts.find((one) => one.model === model && one.text === text)?.tokens;
  }

  keep(model: string, text: string, tokens: number): void {
    this.#counts = [{ model, text, tokens }, ...this.#counts].slice(0, CACHED_COUNTS);
  }
}
