import type { Line } from "./inOrder";

interface Means<T> {
  /** What changes of it wait in. */
  line: Line;
  /** As the page shows it. */
  now(): T;
  show(value: T): void;
  /** Lets the shell keep a change; `whole` is what becomes of it. */
  send(change: Partial<T>, whole: T): Promise<unknown>;
}

/** Something that the shell keeps. A change shows at once, and goes if the shell refuses it. */
export class Kept<T extends object> {
  readonly #means: Means<T>;
  /** Not answered yet, oldest first. */
  #changes: Partial<T>[] = [];
  /** As the shell has it, while there are changes. */
  #known: T;

  constructor(means: Means<T>) {
    this.#means = means;
    this.#known = means.now();
  }

  /** Changes it. Fails as the shell does. */
  async change(change: Partial<T>): Promise<void> {
    const { line, now, send } = this.#means;
    if (this.#changes.length === 0) this.#known = now();
    this.#changes.push(change);
    this.#show();
    try {
      await line.run(() => send(change, { ...this.#known, ...change }));
      this.#known = { ...this.#known, ...change };
    } finally {
      this.#changes = this.#changes.filter((other) => other !== change);
      this.#show();
    }
  }

  /** The shell says what has become of it. What is changed here and not answered yet stays. */
  heard(value: T): void {
    this.#known = value;
    this.#show();
  }

  #show(): void {
    this.#means.show(Object.assign({}, this.#known, ...this.#changes));
  }
}
