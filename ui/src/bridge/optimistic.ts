import type { SerialQueue } from "./serialQueue";

interface Dependencies<T> {
  /** What changes of it wait in. */
  queue: SerialQueue;
  /** As the page shows it. */
  get(): T;
  set(value: T): void;
  /** Lets the shell keep a change; `whole` is what becomes of it. */
  send(change: Partial<T>, whole: T): Promise<unknown>;
}

/**
 * Something that the shell keeps. A change shows at once, and goes if the shell refuses it. Changes that come while
 * another is under way are sent as one.
 */
export class Optimistic<T extends object> {
  readonly #dependencies: Dependencies<T>;
  /** Under way to the shell. */
  #sent: Partial<T> = {};
  /** Made since. */
  #waiting: Partial<T> = {};
  /** Ends with what is waiting. */
  #next: Promise<void> | null = null;
  /** As the shell has it, while there are changes. */
  #known: T;
  #pending = 0;

  constructor(dependencies: Dependencies<T>) {
    this.#dependencies = dependencies;
    this.#known = dependencies.get();
  }

  /** Changes it. Fails as the shell does. */
  async change(change: Partial<T>): Promise<void> {
    if (this.#pending === 0) this.#known = this.#dependencies.get();
    this.#pending += 1;
    this.#waiting = { ...this.#waiting, ...change };
    this.#show();
    this.#next ??= this.#dependencies.queue.run(() => this.#send());
    try {
      await this.#next;
    } finally {
      this.#pending -= 1;
    }
  }

  /** The shell says what has become of it. What is changed here and not answered yet stays. */
  sync(value: T): void {
    this.#known = value;
    this.#show();
  }

  async #send(): Promise<void> {
    const change = this.#waiting;
    [this.#sent, this.#waiting, this.#next] = [change, {}, null];
    try {
      await this.#dependencies.send(change, { ...this.#known, ...change });
      this.#known = { ...this.#known, ...change };
    } finally {
      this.#sent = {};
      this.#show();
    }
  }

  #show(): void {
    this.#dependencies.set({ ...this.#known, ...this.#sent, ...this.#waiting });
  }
}
