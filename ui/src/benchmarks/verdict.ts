import type { AutoSpeed, Benchmark, Drafting, Spread, TextKind, TextSpeed } from "../bridge/bindings";
import { locale, t } from "../language/text";
import { draftingName, rate, sentences, writtenBy } from "../primitives/format";

/** A way to write, and how fast it was. */
export interface Way {
  drafting: Drafting;
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
  bracket: "fastest" | "equal" | null;
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
export const wayName = (depth: number): string =>
  depth === 0 ? t("benchmarks-way.plain") : t("benchmarks-way.ahead", { depth });

/** How many times as fast: two decimals where one would round the difference away. */
export function times(ratio: number): string {
  const digits = Math.abs(ratio - 1) < 0.095 ? 2 : ratio < 9.95 ? 1 : 0;
  return ratio.toLocaleString(locale(), { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

/** `1.6 to 1.9`, or one number where both are the same. */
const range = ({ min, max }: Spread): string =>
  times(min) === times(max) ? times(min) : t("benchmarks-times", { low: times(min), high: times(max) });

const list = (names: string[]): string => new Intl.ListFormat(writtenBy()).format(names);

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

/** Whether a way is plain decoding. */
export const isPlain = ({ drafting }: Pick<Way, "drafting">): boolean => drafting.mode === "off";

/**
 * A way is *fastest* only if its lowest run is above the highest of every other one; those that overlap the best are
 * *equally fast*. Guessing *gains* only if the lowest run is above plain decoding.
 */
function verdictOf({ kind, depths, dflash, auto, lookup }: TextSpeed): TextVerdict {
  const plain = depths.find(({ depth }) => depth === 0)?.tokens_per_second.median;
  if (plain === undefined) return { kind, ways: [], outcome: "unmeasured", top: null, bracket: null };
  const way = (drafting: Drafting, name: string, { min, median, max }: Spread): Omit<Way, "best"> => ({
    drafting,
    name,
    tokensPerSecond: { min, median, max },
    gain: { min: min / plain, median: median / plain, max: max / plain },
  });
  const guessing = (mode: "auto" | "lookup", speed: AutoSpeed | null) =>
    speed ? [way({ mode }, draftingName({ mode }), speed.tokens_per_second)] : [];
  const measured = [
    ...depths.map(({ depth, tokens_per_second: speed }) =>
      way(depth === 0 ? { mode: "off" } : { mode: "fixed", depth }, wayName(depth), speed),
    ),
    ...guessing("auto", auto),
    ...dflash.map(({ depth, tokens_per_second: speed }) =>
      way({ mode: "dflash", depth }, `DFlash ${depth}`, speed),
    ),
    ...guessing("lookup", lookup),
  ];
  const { ways, top } = judged(measured);
  const best = ways.filter((way) => way.best);
  if (top === null || ways.length === 1) return { kind, ways, outcome: "alone", top, bracket: null };
  const gains = top.gain.min > 1 && !best.some(isPlain);
  const outcome = gains ? "gains" : isPlain(top) ? "plain" : "uncertain";
  return { kind, ways, outcome, top, bracket: best.length === 1 ? "fastest" : "equal" };
}

/** What a sentence is of: a kind of text, `any` where there is one alone or none was told apart, or both. */
type About = TextKind | "both";

const speedOf = ({ top }: TextVerdict): string => (top ? rate(top.tokensPerSecond.median) : "–");

/** What guessing does, without a full stop. */
function clauseOf(text: TextVerdict, about: About): string {
  switch (text.outcome) {
    case "gains":
      return t("benchmarks-clause.gains", { about, times: text.top ? range(text.top.gain) : "–" });
    case "plain":
      return t("benchmarks-clause.plain", { about });
    case "uncertain":
      return t("benchmarks-clause.uncertain", { about });
    case "alone":
      return t("benchmarks-clause.alone", { about, speed: speedOf(text) });
    case "unmeasured":
      return t("benchmarks-clause.unmeasured", { about });
  }
}

/** The same behind a clause about the other kind of text. */
function asideOf({ kind: about, outcome }: TextVerdict): string {
  switch (outcome) {
    case "plain":
      return t("benchmarks-aside.plain", { about });
    case "uncertain":
      return t("benchmarks-aside.uncertain", { about });
    case "gains":
    case "alone":
      return t("benchmarks-aside.alone", { about });
    case "unmeasured":
      return t("benchmarks-aside.unmeasured", { about });
  }
}

/** What guessing does for one text, or for two alike. */
const sentenceOf = (text: TextVerdict, about: About): string =>
  t("benchmarks-sentence.one", { clause: clauseOf(text, about) });

/** What guessing does for both kinds of text, in the order that they are measured in. */
function sentenceOfBoth(prose: TextVerdict, code: TextVerdict): string {
  if (prose.outcome === "gains" && code.outcome === "gains" && prose.top && code.top) {
    const [first, second] = [prose.top.gain, code.top.gain];
    if (range(first) === range(second)) return sentenceOf(prose, "both");
    const more = times(second.max) !== times(first.max) && second.max > first.max;
    return more
      ? t("benchmarks-sentence.gains-up-to", { prose: range(first), code: times(second.max) })
      : t("benchmarks-sentence.gains", { prose: range(first), code: range(second) });
  }
  if (prose.outcome === code.outcome) {
    const differ = prose.outcome === "alone" && speedOf(prose) !== speedOf(code);
    return differ
      ? t("benchmarks-sentence.alone", { prose: speedOf(prose), code: speedOf(code) })
      : sentenceOf(prose, "both");
  }
  // What it gains comes first.
  const [first, second] = code.outcome === "gains" ? [code, prose] : [prose, code];
  return t("benchmarks-sentence.two", { clause: clauseOf(first, first.kind), aside: asideOf(second) });
}

/** `2 ahead is fastest.`; empty where there is nothing to compare. */
function detailOf({ ways, bracket }: TextVerdict, about: About): string {
  if (bracket === null) return "";
  const names = list(ways.filter(({ best }) => best).map(({ name }) => name));
  return bracket === "fastest"
    ? t("benchmarks-detail.fastest", { about, names })
    : t("benchmarks-detail.equal", { about, names });
}

/** Which way is fastest for each of some texts. */
function detailOfAll(texts: TextVerdict[]): string {
  const [first] = texts;
  if (first === undefined) return "";
  if (texts.length === 1) return detailOf(first, "any");
  const alike = texts.every((text) => detailOf(text, "any") === detailOf(first, "any"));
  return alike ? detailOf(first, "both") : sentences(...texts.map((text) => detailOf(text, text.kind)));
}

/** Each way with the range of its gains over all texts. */
function waysOfAll(texts: TextVerdict[]): Way[] {
  const known = new Map(texts.flatMap(({ ways }) => ways.map(({ name, drafting }) => [name, drafting])));
  const over = (all: Spread[]): Spread => ({
    min: Math.min(...all.map(({ min }) => min)),
    median: all.reduce((sum, { median }) => sum + median, 0) / all.length,
    max: Math.max(...all.map(({ max }) => max)),
  });
  return judged(
    [...known].map(([name, drafting]) => {
      const own = texts.flatMap(({ ways }) => ways.filter((way) => way.name === name));
      return {
        drafting,
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
      ? t("benchmarks-sentence.none")
      : two === undefined
        ? sentenceOf(one, one.kind)
        : sentenceOfBoth(one, two);
  return { texts, ways: waysOfAll(texts), sentence, detail: detailOfAll(texts) };
}
