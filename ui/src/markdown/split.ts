import { blockStarts, lex, type Token } from "./lex";

const BLANK = /^[ \t]*$/;
const FENCE = /^ {0,3}(`{3,}(?=[^`]*$)|~{3,})/;
const LIST_ITEM = /^(?:[*+-]|\d{1,9}[.)])(?:[ \t]|$)/;
const INTERRUPTS = /^(?:#{1,6}(?:[ \t]|$)|`{3,}|~{3,})/;

/**
 * Splits text that arrives in pieces into blocks. A block is frozen once no later text can change it: it is read once
 * and keeps its identity. What follows the last frozen block is the tail. Decisions are made on whole lines only, one
 * line at a time, so they do not depend on how the text was cut into pieces.
 */
export class Splitter {
  readonly frozen: Token[] = [];
  #tail = "";
  /** Where the first line of the tail begins that was not looked at. */
  #next = 0;
  #afterBlank = false;
  /** Ends the fence that the tail opens with. */
  #fence: RegExp | null = null;
  /** A tail shorter than this is not tried again: failed tries cost time that grows with its length. */
  #tryFrom = 0;
  #carriageReturn = false;

  /** The text after the last frozen block. */
  get tail(): string {
    return this.#tail;
  }

  /** Whether the tail is a code block that is still open. */
  get inFence(): boolean {
    return this.#fence !== null;
  }

  append(piece: string): void {
    let text = this.#carriageReturn ? `\r${piece}` : piece;
    this.#carriageReturn = text.endsWith("\r");
    if (this.#carriageReturn) text = text.slice(0, -1);

    let from = this.#tail.length;
    this.#tail += text.replace(/\r\n?/g, "\n");
    for (;;) {
      const end = this.#tail.indexOf("\n", Math.max(from, this.#next));
      if (end < 0) return;
      const before = this.#tail.length;
      this.#line(this.#tail.slice(this.#next, end), end + 1);
      from = Math.max(0, from - (before - this.#tail.length));
    }
  }

  /** The text is complete: freezes the rest. */
  finish(): void {
    if (this.#carriageReturn) this.append("\n");
    this.#freeze(this.#tail.length);
  }

  #line(line: string, end: number): void {
    const start = this.#next;
    if (this.#fence) {
      this.#next = end;
      if (this.#fence.test(line)) this.#freeze(end);
      return;
    }
    if (BLANK.test(line)) {
      if (start === 0) this.#tail = this.#tail.slice(end);
      else this.#next = end;
      this.#afterBlank = true;
      return;
    }
    if (start > 0 && end >= this.#tryFrom && this.#mayStartBlock(line)) {
      if (blockStarts(this.#tail.slice(0, end)).at(-1) === start) this.#freeze(start);
      else this.#tryFrom = 2 * end;
    }
    if (this.#next === 0) this.#fence = closingFence(line);
    this.#next += line.length + 1;
    this.#afterBlank = false;
  }

  #mayStartBlock(line: string): boolean {
    if (INTERRUPTS.test(line)) return true;
    if (!this.#afterBlank || /^\s/.test(line)) return false;
    return !(LIST_ITEM.test(line) && LIST_ITEM.test(this.#tail));
  }

  #freeze(end: number): void {
    this.frozen.push(...lex(this.#tail.slice(0, end)));
    this.#tail = this.#tail.slice(end);
    this.#next = 0;
    this.#fence = null;
    this.#tryFrom = 0;
    this.#afterBlank = false;
  }
}

function closingFence(line: string): RegExp | null {
  const fence = FENCE.exec(line)?.[1];
  return fence ? new RegExp(`^ {0,3}${fence[0]}{${fence.length},}[ \\t]*$`) : null;
}
