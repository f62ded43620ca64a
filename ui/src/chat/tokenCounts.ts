import type { Attachment } from "../bridge/bindings";

interface Count extends Attachment {
  model: string;
  tokens: number;
}

/** How many are kept. Each holds the text of a file. */
const CACHED_COUNTS = 64;

/**
 * What models make of files. A file is known by its name and text: each time its chat is read, it is another object.
 */
export class TokenCounts {
  /** The newest first. */
  #counts: Count[] = [];

  /** How many tokens `model` makes of a file, if that was counted not long ago. */
  of(model: string | undefined, { name, text }: Attachment): number | undefined {
    return this.#counts.find((one) => one.model === model && one.name === name && one.text === text)?.tokens;
  }

  keep(model: string, { name, text }: Attachment, tokens: number): void {
    this.#counts = [{ model, name, text, tokens }, ...this.#counts].slice(0, CACHED_COUNTS);
  }
}
