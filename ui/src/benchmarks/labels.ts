import type {
  Benchmark,
  Comparison,
  ComparisonProgress,
  Drafting,
  EngineState,
  KvPrecision,
  MachineName,
  PositionStats,
  Spread,
  TextKind,
} from "../bridge/bindings";
import { bytes, count, formatLabel, memory, needsHead, percent, processor, rate } from "../primitives/format";
import { HERE } from "../primitives/platform";
import type { Metric } from "./store";
import { times, wayName } from "./verdict";

/** Drafts must gain at least this much: less is within what two runs differ by. */
const MARGIN = 1.02;

/** `58 (57–60)`. */
export const spread = ({ median, min, max }: Spread, words: (value: number) => string): string =>
  words(min) === words(max) ? words(median) : `${words(median)} (${words(min)}–${words(max)})`;

/** The share of right drafts by position. */
export function acceptanceLabel(positions: PositionStats[]): string {
  const shares = positions.map(({ drafted, accepted }) =>
    drafted === 0 ? "–" : percent(accepted / drafted),
  );
  return shares.length === 0 ? "–" : shares.join(" · ");
}

const machineLabel = ({ chip, ram_bytes: ram }: MachineName): string =>
  [chip || "unknown processor", ram > 0 && memory(ram)].filter(Boolean).join(", ");

const TICK_TIME = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });
const TICK_DATE = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short" });
const TICK_MONTH = new Intl.DateTimeFormat("en-GB", { month: "short", year: "numeric" });
const DAY_SECONDS = 86_400;

/** What a tick of the axis of time says, where one comes every `step` seconds. At midnight it names the day. */
export function tickLabel(seconds: number, step: number): string {
  const at = new Date(seconds * 1000);
  if (step >= 91 * DAY_SECONDS) return TICK_MONTH.format(at);
  const midnight = at.getHours() === 0 && at.getMinutes() === 0;
  return (step >= DAY_SECONDS || midnight ? TICK_DATE : TICK_TIME).format(at);
}

const DAY = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "long", year: "numeric" });
const MINUTE = new Intl.DateTimeFormat("en-GB", {
  day: "numeric",
  month: "short",
  year: "numeric",
  hour: "2-digit",
  minute: "2-digit",
});

const dayLabel = (time: number): string => DAY.format(time);
export const timeLabel = (time: number): string => MINUTE.format(time);

/** Why a benchmark cannot be compared with those of `here` in `format`; null if it can. */
export function strange(benchmark: Benchmark, here: MachineName, format: string | null): string | null {
  const { machine } = benchmark;
  if (machine.chip !== here.chip || machine.ram_bytes !== here.ram_bytes)
    return `Another machine: ${machineLabel(machine)}`;
  if (format !== null && formatLabel(benchmark.format) !== formatLabel(format))
    return `Another format: ${formatLabel(benchmark.format)}`;
  return null;
}

/** How the kinds of text are headed, and what they are made of. */
export const TEXTS: Record<TextKind, { name: string; words: string }> = {
  prose: { name: "Prose", words: "a story, a letter, an explanation" },
  code: { name: "Code", words: "a function, a test, a change to a file" },
  any: { name: "All text", words: "prose and code were not told apart" },
};

export const METRICS: { metric: Metric; name: string; unit: string }[] = [
  { metric: "prose", name: "Prose", unit: "tokens per second" },
  { metric: "code", name: "Code", unit: "tokens per second" },
  { metric: "reading", name: "Reading", unit: "prompt tokens per second" },
  { metric: "memory", name: "Memory", unit: "GB at most" },
];

/** A line of the chart. */
export interface Series {
  name: string;
  /** How many drafts; null where that makes no difference. */
  depth: number | null;
  /** One for each benchmark; null where it was not measured. */
  values: (number | null)[];
}

const DEPTHS = [0, 1, 2, 3];
const GB = 1e9;

/** What a metric is in each of some benchmarks. What was measured in none of them is left out. */
export function series(metric: Metric, benchmarks: Benchmark[]): Series[] {
  const writing = (kinds: TextKind[]) => () =>
    DEPTHS.map((depth) => ({
      name: wayName(depth),
      depth,
      values: benchmarks.map(({ texts }) => {
        const own = texts.find(({ kind }) => kinds.includes(kind))?.depths;
        return own?.find((one) => one.depth === depth)?.tokens_per_second.median ?? null;
      }),
    }));
  const all: Series[] = {
    // Where texts were not told apart, a story was measured.
    prose: writing(["prose", "any"]),
    code: writing(["code"]),
    reading: () => [
      {
        name: "Prompt",
        depth: null,
        values: benchmarks.map(({ prefill_tokens_per_second: prefill }) => prefill?.median ?? null),
      },
    ],
    memory: () => [
      {
        name: "Memory",
        depth: null,
        values: benchmarks.map(({ peak_memory_bytes: peak }) => peak.median / GB),
      },
    ],
  }[metric]();
  return all.filter(({ values }) => values.some((value) => value !== null));
}

/** A value of a metric. */
export const metricValue = (metric: Metric, value: number): string =>
  metric === "memory" ? bytes(value * GB) : rate(value);

/** How keys and values were kept, as a sentence goes on after what was measured; empty for the usual way. */
export const kvLabel = (precision: KvPrecision): string =>
  precision === "eight" ? "with smaller memory for long chats (8-bit)" : "";

/** The benchmarks that are plotted: only those that kept keys and values in one way are comparable. */
export function plotted(
  benchmarks: Benchmark[],
  chosen: KvPrecision | null,
): { precision: KvPrecision; benchmarks: Benchmark[]; others: number } {
  const known = benchmarks.some(({ kv_precision }) => kv_precision === chosen);
  const precision = (known ? chosen : benchmarks.at(-1)?.kv_precision) ?? "full";
  const same = benchmarks.filter(({ kv_precision }) => kv_precision === precision);
  return { precision, benchmarks: same, others: benchmarks.length - same.length };
}

/** What a chart shows, in words. All of `benchmarks` kept keys and values in the same way. */
export function chartSentence(metric: Metric, benchmarks: Benchmark[]): string {
  const lines = series(metric, benchmarks);
  const [first, last] = [benchmarks[0], benchmarks.at(-1)];
  if (first === undefined || last === undefined || lines.length === 0) return "Nothing was measured yet.";
  const unit = metric === "memory" ? "" : ` ${METRICS.find((one) => one.metric === metric)?.unit}`;
  const told = lines.map(({ name, values }) => {
    const known = values.filter((value) => value !== null);
    const [from, to] = [known[0], known.at(-1)].map((value) => metricValue(metric, value ?? 0));
    return known.length === 1 || from === to ? `${name}: ${to}` : `${name}: from ${from} to ${to}`;
  });
  const days = [dayLabel(first.measured_at), dayLabel(last.measured_at)];
  const when = days[0] === days[1] ? `on ${days[0]}` : `from ${days[0]} to ${days[1]}`;
  const many = benchmarks.length === 1 ? "One benchmark" : `${count(benchmarks.length)} benchmarks`;
  const how = [many, kvLabel(first.kv_precision), when].filter(Boolean).join(" ");
  return `${how}. ${told.join(", ")}${unit}.`;
}

/** How much faster the reply with drafts was written. */
export const comparisonRatio = ({ plain, drafted }: Comparison): number | null =>
  plain.stats.tokens_per_second > 0 && drafted.stats.tokens_per_second > 0
    ? drafted.stats.tokens_per_second / plain.stats.tokens_per_second
    : null;

/** What drafts have gained or cost in this one reply. */
export function ratioSentence(comparison: Comparison): string {
  const ratio = comparisonRatio(comparison);
  if (ratio === null) return "The replies are too short to tell a speed.";
  if (ratio > MARGIN) return `With drafts this reply was written ${times(ratio)} times as fast.`;
  if (ratio < 1 / MARGIN)
    return `With drafts this reply was slower: ${times(ratio)} times the speed of plain.`;
  return "Drafts made no difference to the speed of this reply.";
}

/** Whether both texts are the same, and whether they have to be. */
export function verdictSentence({ verdict, sampling }: Comparison): string {
  switch (verdict.verdict) {
    case "equal":
      return `Both texts are equal, token for token${sampling.temperature === 0 ? "" : ", though their words were drawn"}.`;
    case "different":
      return `The texts differ after ${count(verdict.after)} equal tokens. With these settings they must be equal: something is wrong.`;
    case "rounded":
      return `The texts differ after ${count(verdict.after)} equal tokens, as they may: your Mac rounds otherwise where it checks guesses, which decides between words that are as good as equal. ${
        sampling.acceptance === "strict"
          ? "“To the letter” does not reach that far: it holds for shorter chats, and beside fewer others."
          : "“To the letter”, below “Which guesses stay” in the MTP menu, keeps most texts the same."
      }`;
    case "same_chances":
      return "The words differ, as they may: with “More guesses” every word is as likely as without drafts, but the words that are drawn are others.";
  }
}

/** What a comparison does now. */
export function progressLabel(progress: ComparisonProgress | null): string {
  if (progress === null) return "Beginning";
  if (progress.stage === "reading")
    return `Reading the prompt: ${count(progress.done)} of ${count(progress.total)} tokens`;
  return `Writing ${progress.drafts ? "with" : "without"} drafts: ${count(progress.tokens)} tokens`;
}

/**
 * Why nothing can be compared now; null if it can. `drafting`: what is set; `writing`: whether a reply is being written
 * in any chat; `comparing`: whether a comparison runs.
 */
export function compareReason(
  engine: EngineState,
  drafting: Drafting,
  writing: boolean,
  comparing: boolean,
): string | null {
  if (comparing) return "A comparison is running.";
  if (engine.state !== "ready") return "No model is ready.";
  // Where drafts are off they are compared with Auto, which all models can.
  if (needsHead(drafting) && engine.model.mtp.state !== "present")
    return "This model has no MTP head to compare with; Auto and Look-up draft from the text.";
  if (drafting.mode === "dflash" && engine.model.draft_model === null)
    return "No draft model is loaded with this model; choose other drafts, or get one on the Models screen.";
  return writing ? "A reply is being written; both texts must be measured alone." : null;
}

/** Where a benchmark ran, and how. */
export function benchmarkNotes(benchmark: Benchmark, here: MachineName): string {
  const { runs, gen_tokens: tokens, app_version: version, device, format, machine } = benchmark;
  const place =
    machine.chip === here.chip && machine.ram_bytes === here.ram_bytes
      ? HERE
      : `another machine (${machineLabel(machine)})`;
  const how = kvLabel(benchmark.kv_precision);
  const there = how === "" ? place : `${place}, ${how}`;
  return `${timeLabel(benchmark.measured_at)} · Foretoken ${version} · ${formatLabel(format)} on ${processor(device)} of ${there} · ${count(runs)} runs of ${count(tokens)} tokens${benchmark.texts.length > 1 ? " of each kind of text" : ""}${benchmark.strained ? " · measured while it was hot or saved energy: at other times it is faster" : ""}`;
}
