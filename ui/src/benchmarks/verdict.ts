import type { Benchmark, Spread } from "../bridge/bindings";
import { rate } from "../primitives/format";

/** A way to write, and how fast it was. */
export interface Way {
  name: string;
  tokensPerSecond: Spread;
  /** Times plain decoding's median: lowest to highest of all runs. */
  gain: Spread;
  /** Whether it belongs to those that nothing is faster than. */
  best: boolean;
}

/** What a benchmark found. Sentence, bracket and bars come from the same ranges, so they cannot disagree. */
export interface Verdict {
  ways: Way[];
  /** What guessing gains, in a sentence. */
  sentence: string;
  /** Which way is fastest, or which ones nobody can tell apart; empty where there is nothing to compare. */
  detail: string;
  /** What the best ways have in common. */
  bracket: "fastest" | "equally fast" | null;
}

/** `1 ahead`, or `Plain` for none. */
export const wayName = (depth: number): string => (depth === 0 ? "Plain" : `${depth} ahead`);

/** How many times as fast: two decimals where one would round the difference away. */
export const times = (ratio: number): string =>
  Math.abs(ratio - 1) < 0.095 ? ratio.toFixed(2) : ratio < 9.95 ? ratio.toFixed(1) : ratio.toFixed(0);

/** `1.6 to 1.9`, or one number where both are the same. */
const range = ({ min, max }: Spread): string =>
  times(min) === times(max) ? times(min) : `${times(min)} to ${times(max)}`;

const list = (names: string[]): string =>
  names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;

/**
 * A way is *fastest* only if its lowest run is above the highest of every other one; those that overlap the best are
 * *equally fast*. Guessing *gains* only if the lowest run is above plain decoding.
 */
export function verdict({ depths, dflash, auto }: Benchmark): Verdict {
  const plain = depths.find(({ depth }) => depth === 0)?.tokens_per_second.median;
  if (plain === undefined)
    return { ways: [], sentence: "Plain decoding was not measured.", detail: "", bracket: null };
  const measured = [
    ...depths.map(({ depth, tokens_per_second }) => ({ name: wayName(depth), tokens_per_second })),
    ...(auto ? [{ name: "Auto", tokens_per_second: auto.tokens_per_second }] : []),
    ...dflash.map(({ depth, tokens_per_second }) => ({ name: `DFlash ${depth}`, tokens_per_second })),
  ].map(({ name, tokens_per_second: { min, median, max } }) => ({
    name,
    tokensPerSecond: { min, median, max },
    gain: { min: min / plain, median: median / plain, max: max / plain },
  }));
  const top = measured.reduce((best, way) => (way.gain.median > best.gain.median ? way : best));
  const ways = measured.map((way) => ({ ...way, best: way.gain.max >= top.gain.min }));
  const best = ways.filter((way) => way.best);
  if (ways.length === 1)
    return {
      ways,
      sentence: `Plain decoding writes ${rate(plain)} tokens per second here.`,
      detail: "",
      bracket: null,
    };
  const gains = top.gain.min > 1 && !best.some(({ name }) => name === "Plain");
  const sentence = gains
    ? `Guessing makes it ${range(top.gain)} times as fast.`
    : top.name === "Plain"
      ? "Nothing beats plain here."
      : "Guessing gains nothing here that is certain.";
  if (best.length === 1) return { ways, sentence, detail: `${top.name} is fastest.`, bracket: "fastest" };
  const names = list(best.map(({ name }) => name));
  return {
    ways,
    sentence,
    detail: `${names} are equally fast: their ranges overlap.`,
    bracket: "equally fast",
  };
}
