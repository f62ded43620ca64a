import type { Benchmark, Spread, TextKind, TextSpeed } from "../bridge/bindings";
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

/** What guessing does for a text: it gains, nothing beats plain, neither is certain, or there is nothing to compare. */
type Outcome = "gains" | "plain" | "uncertain" | "alone" | "unmeasured";

/** What a benchmark found for one kind of text. Words, bracket and bars come from the same ranges. */
export interface TextVerdict {
  kind: TextKind;
  ways: Way[];
  outcome: Outcome;
  /** The fastest way by its median; null where nothing was measured. */
  top: Way | null;
  /** What the best ways have in common. */
  bracket: "fastest" | "equally fast" | null;
}

/** What a benchmark found. Sentence, brackets and bars come from the same ranges, so they cannot disagree. */
export interface Verdict {
  /** For each kind of text. */
  texts: TextVerdict[];
  /** For all of them: from a way's lowest run with any text to its highest, with the medians' mean in the middle. */
  ways: Way[];
  /** What guessing gains, in a sentence. */
  sentence: string;
  /** Which way is fastest, or which ones nobody can tell apart; empty where there is nothing to compare. */
  detail: string;
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

/** Marks those that nothing is faster than: all that overlap the one with the highest median. */
function judged(ways: Omit<Way, "best">[]): { ways: Way[]; top: Way | null } {
  const top = ways.reduce<Omit<Way, "best"> | null>(
    (best, way) => (best === null || way.gain.median > best.gain.median ? way : best),
    null,
  );
  if (top === null) return { ways: [], top: null };
  const all = ways.map((way) => ({ ...way, best: way.gain.max >= top.gain.min }));
  return { ways: all, top: all.find(({ name }) => name === top.name) ?? null };
}

/**
 * A way is *fastest* only if its lowest run is above the highest of every other one; those that overlap the best are
 * *equally fast*. Guessing *gains* only if the lowest run is above plain decoding.
 */
function verdictOf({ kind, depths, dflash, auto, lookup }: TextSpeed): TextVerdict {
  const plain = depths.find(({ depth }) => depth === 0)?.tokens_per_second.median;
  if (plain === undefined) return { kind, ways: [], outcome: "unmeasured", top: null, bracket: null };
  const measured = [
    ...depths.map(({ depth, tokens_per_second }) => ({ name: wayName(depth), tokens_per_second })),
    ...(auto ? [{ name: "Auto", tokens_per_second: auto.tokens_per_second }] : []),
    ...dflash.map(({ depth, tokens_per_second }) => ({ name: `DFlash ${depth}`, tokens_per_second })),
    ...(lookup ? [{ name: "Look-up", tokens_per_second: lookup.tokens_per_second }] : []),
  ].map(({ name, tokens_per_second: { min, median, max } }) => ({
    name,
    tokensPerSecond: { min, median, max },
    gain: { min: min / plain, median: median / plain, max: max / plain },
  }));
  const { ways, top } = judged(measured);
  const best = ways.filter((way) => way.best);
  if (top === null || ways.length === 1) return { kind, ways, outcome: "alone", top, bracket: null };
  const gains = top.gain.min > 1 && !best.some(({ name }) => name === "Plain");
  const outcome = gains ? "gains" : top.name === "Plain" ? "plain" : "uncertain";
  return { kind, ways, outcome, top, bracket: best.length === 1 ? "fastest" : "equally fast" };
}

/** ` for prose`; empty where texts were not told apart. */
const forKind = (kind: TextKind): string => (kind === "any" ? "" : ` for ${kind}`);

const speedOf = ({ top }: TextVerdict): string => (top ? rate(top.tokensPerSecond.median) : "–");

/** What guessing does for one text, or for two alike. `where`: ` for prose`, or empty. */
function sentenceOf(text: TextVerdict, where: string): string {
  switch (text.outcome) {
    case "gains":
      return `Guessing makes it ${text.top ? range(text.top.gain) : "–"} times as fast${where}.`;
    case "plain":
      return `Nothing beats plain here${where}.`;
    case "uncertain":
      return `Guessing gains nothing here that is certain${where}.`;
    case "alone":
      return `Plain decoding writes ${speedOf(text)} tokens per second here${where}.`;
    case "unmeasured":
      return `Plain decoding was not measured${where}.`;
  }
}

/** The same behind a sentence about another text. */
function clauseOf(text: TextVerdict): string {
  switch (text.outcome) {
    case "plain":
      return `${forKind(text.kind)} nothing beats plain`;
    case "uncertain":
      return `${forKind(text.kind)} guessing gains nothing that is certain`;
    case "gains":
    case "alone":
      return `${forKind(text.kind)} plain decoding alone was measured`;
    case "unmeasured":
      return `${forKind(text.kind)} plain decoding was not measured`;
  }
}

/** What guessing does for two kinds of text. */
function sentenceOfBoth(one: TextVerdict, two: TextVerdict): string {
  const both = `${forKind(one.kind)} and${forKind(two.kind)}`;
  if (one.outcome === "gains" && two.outcome === "gains" && one.top && two.top) {
    const [first, second] = [one.top.gain, two.top.gain];
    if (range(first) === range(second)) return sentenceOf(one, both);
    const more = times(second.max) !== times(first.max) && second.max > first.max;
    const rest = `${more ? `up to ${times(second.max)}` : range(second)} times`;
    return `Guessing makes it ${range(first)} times as fast${forKind(one.kind)}, and ${rest}${forKind(two.kind)}.`;
  }
  if (one.outcome === two.outcome) {
    const differ = one.outcome === "alone" && speedOf(one) !== speedOf(two);
    return differ
      ? `${sentenceOf(one, forKind(one.kind)).slice(0, -1)}, and ${speedOf(two)}${forKind(two.kind)}.`
      : sentenceOf(one, both);
  }
  // What it gains comes first.
  const [first, second] = two.outcome === "gains" ? [two, one] : [one, two];
  return `${sentenceOf(first, forKind(first.kind)).slice(0, -1)};${clauseOf(second)}.`;
}

/** `2 ahead is fastest`; empty where there is nothing to compare. */
function detailOf({ ways, bracket }: TextVerdict): string {
  const names = list(ways.filter(({ best }) => best).map(({ name }) => name));
  if (bracket === null) return "";
  return bracket === "fastest" ? `${names} is fastest` : `${names} are equally fast: their ranges overlap`;
}

/** Which way is fastest for each of some texts. */
function detailOfAll(texts: TextVerdict[]): string {
  const [first = "", ...others] = texts.map(detailOf);
  if (texts.length === 1) return first && `${first}.`;
  if (first !== "" && others.every((other) => other === first)) {
    const kinds = texts.map(({ kind }) => forKind(kind).trim()).join(" and ");
    return `${kinds.replace("for", "For")} ${first}.`;
  }
  const told = texts.map((text) => {
    const detail = detailOf(text);
    return detail && `${forKind(text.kind).replace(" for", "For")} ${detail}.`;
  });
  return told.filter(Boolean).join(" ");
}

/** Each way with the range of its gains over all texts. */
function waysOfAll(texts: TextVerdict[]): Way[] {
  const names = new Set(texts.flatMap(({ ways }) => ways.map(({ name }) => name)));
  const over = (all: Spread[]): Spread => ({
    min: Math.min(...all.map(({ min }) => min)),
    median: all.reduce((sum, { median }) => sum + median, 0) / all.length,
    max: Math.max(...all.map(({ max }) => max)),
  });
  return judged(
    [...names].map((name) => {
      const own = texts.flatMap(({ ways }) => ways.filter((way) => way.name === name));
      return {
        name,
        tokensPerSecond: over(own.map(({ tokensPerSecond }) => tokensPerSecond)),
        gain: over(own.map(({ gain }) => gain)),
      };
    }),
  ).ways;
}

/** What a benchmark found, for each kind of text and for all of them. */
export function verdict(benchmark: Pick<Benchmark, "texts">): Verdict {
  const texts = benchmark.texts.map(verdictOf);
  const [one, two] = texts;
  const sentence =
    one === undefined
      ? "Nothing was measured."
      : two === undefined
        ? sentenceOf(one, forKind(one.kind))
        : sentenceOfBoth(one, two);
  return { texts, ways: waysOfAll(texts), sentence, detail: detailOfAll(texts) };
}
