import { useCallback, useSyncExternalStore } from "react";
import type { Task } from "./highlight.worker";
import type { Run } from "./runs";

/** Longer code stays plain: thousands of coloured pieces would make the page slow. */
const LONGEST = 30_000;
/** Milliseconds after which a grammar has lost its way. */
const HIGHLIGHT_TIMEOUT = 3_000;
/** Characters of code whose pieces are kept, for when it comes into view again. */
const CACHED_CHARACTERS = 2_000_000;

interface Job {
  key: string;
  task: Task;
  /** Whoever shows it. */
  shown: Set<() => void>;
}

/** Finds the pieces of code in a thread of its own, one block after the other. */
class Highlighter {
  #worker: Worker | null = null;
  #running: Job | null = null;
  readonly #jobs = new Map<string, Job>();
  readonly #read = new Map<string, readonly Run[] | null>();
  #cached = 0;

  /** The pieces of `code`; null if they are not known yet, or not at all. */
  pieces(code: string, language: string): readonly Run[] | null {
    return this.#read.get(keyOf(code, language)) ?? null;
  }

  /** Calls `ready` when the pieces of `code` are known. Returns what ends the wait. */
  ask(code: string, language: string, ready: () => void): () => void {
    const key = keyOf(code, language);
    if (language === "" || code.length > LONGEST || this.#read.has(key)) return () => {};
    const job = this.#jobs.get(key) ?? { key, task: { code, language }, shown: new Set() };
    job.shown.add(ready);
    this.#jobs.set(key, job);
    this.#next();
    return () => {
      job.shown.delete(ready);
      // Nobody waits for what is no longer in view.
      if (job.shown.size === 0 && job !== this.#running) this.#jobs.delete(key);
    };
  }

  #next(): void {
    const job = this.#jobs.values().next().value;
    if (this.#running || !job) return;
    this.#running = job;
    const worker = this.#worker ?? new Worker(new URL("./highlight.worker.ts", import.meta.url));
    this.#worker = worker;
    const end = (runs: readonly Run[] | null) => {
      clearTimeout(timer);
      this.#end(job, runs);
    };
    const giveUp = () => {
      worker.terminate();
      this.#worker = null;
      end(null);
    };
    const timer = setTimeout(giveUp, HIGHLIGHT_TIMEOUT);
    worker.onmessage = ({ data }: MessageEvent<readonly Run[] | null>) => end(data);
    worker.onerror = giveUp;
    worker.postMessage(job.task);
  }

  #end(job: Job, runs: readonly Run[] | null): void {
    this.#running = null;
    this.#jobs.delete(job.key);
    this.#keep(job.key, runs);
    for (const ready of job.shown) ready();
    this.#next();
  }

  #keep(key: string, runs: readonly Run[] | null): void {
    this.#read.set(key, runs);
    this.#cached += key.length;
    for (const oldest of this.#read.keys()) {
      if (this.#cached <= CACHED_CHARACTERS) return;
      this.#read.delete(oldest);
      this.#cached -= oldest.length;
    }
  }
}

const highlighter = new Highlighter();

const keyOf = (code: string, language: string): string => `${language}\n${code}`;

/** The pieces of `code` as soon as they are known; an empty language has none. */
export function usePieces(code: string, language: string): readonly Run[] | null {
  const ask = useCallback((ready: () => void) => highlighter.ask(code, language, ready), [code, language]);
  const pieces = () => highlighter.pieces(code, language);
  return useSyncExternalStore(ask, pieces, pieces);
}
