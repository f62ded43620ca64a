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
import { t } from "../language/text";
import {
  bytes,
  commas,
  formatLabel,
  memory,
  needsHead,
  percent,
  rate,
  writtenBy,
} from "../primitives/format";
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
  commas([chip || t("benchmarks-unknown-processor"), ram > 0 && memory(ram)]);

const TICK_TIME: Intl.DateTimeFormatOptions = { hour: "2-digit", minute: "2-digit" };
const TICK_DATE: Intl.DateTimeFormatOptions = { day: "numeric", month: "short" };
const TICK_MONTH: Intl.DateTimeFormatOptions = { month: "short", year: "numeric" };
const DAY_SECONDS = 86_400;

/** What a tick of the axis of time says, where one comes every `step` seconds. At midnight it names the day. */
export function tickLabel(seconds: number, step: number): string {
  const at = new Date(seconds * 1000);
  const midnight = at.getHours() === 0 && at.getMinutes() === 0;
  const day = step >= DAY_SECONDS || midnight ? TICK_DATE : TICK_TIME;
  return dateLabel(at, step >= 91 * DAY_SECONDS ? TICK_MONTH : day);
}

const DAY: Intl.DateTimeFormatOptions = { day: "numeric", month: "long", year: "numeric" };
const MINUTE: Intl.DateTimeFormatOptions = { ...TICK_DATE, year: "numeric", ...TICK_TIME };

const dateLabel = (time: Date | number, parts: Intl.DateTimeFormatOptions): string =>
  new Intl.DateTimeFormat(writtenBy(), parts).format(time);
const dayLabel = (time: number): string => dateLabel(time, DAY);
export const timeLabel = (time: number): string => dateLabel(time, MINUTE);

/** Why a benchmark cannot be compared with those of `here` in `format`; null if it can. */
export function strange(benchmark: Benchmark, here: MachineName, format: string | null): string | null {
  const { machine } = benchmark;
  if (machine.chip !== here.chip || machine.ram_bytes !== here.ram_bytes)
    return t("benchmarks-strange.machine", { machine: machineLabel(machine) });
  if (format !== null && formatLabel(benchmark.format) !== formatLabel(format))
    return t("benchmarks-strange.format", { format: formatLabel(benchmark.format) });
  return null;
}

/** How a kind of text is headed, and what it is made of. */
export function textWords(kind: TextKind): { name: string; words: string } {
  switch (kind) {
    case "prose":
      return { name: t("benchmarks-prose"), words: t("benchmarks-prose.words") };
    case "code":
      return { name: t("benchmarks-code"), words: t("benchmarks-code.words") };
    case "any":
      return { name: t("benchmarks-any"), words: t("benchmarks-any.words") };
  }
}

export const metrics = (): { metric: Metric; name: string }[] => [
  { metric: "prose", name: textWords("prose").name },
  { metric: "code", name: textWords("code").name },
  { metric: "reading", name: t("benchmarks-metric.reading") },
  { metric: "memory", name: t("benchmarks-metric.memory") },
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
        name: t("benchmarks-metric.prompt"),
        depth: null,
        values: benchmarks.map(({ prefill_tokens_per_second: prefill }) => prefill?.median ?? null),
      },
    ],
    memory: () => [
      {
        name: t("benchmarks-metric.memory"),
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
  if (first === undefined || last === undefined || lines.length === 0) return t("benchmarks-nothing");
  const told = lines.map(({ name, values }) => {
    const known = values.filter((value) => value !== null);
    const [from, to] = [known[0], known.at(-1)].map((value) => metricValue(metric, value ?? 0));
    return known.length === 1 || from === to
      ? t("benchmarks-line.same", { name, value: to ?? "" })
      : t("benchmarks-line.change", { name, from: from ?? "", to: to ?? "" });
  });
  const [begin, end] = [dayLabel(first.measured_at), dayLabel(last.measured_at)];
  return t("benchmarks-chart", {
    benchmarks: benchmarks.length,
    memory: first.kv_precision,
    days: begin === end ? "one" : "more",
    begin,
    end,
    lines: commas(told),
    metric,
  });
}

/** How much faster the reply with drafts was written. */
export const comparisonRatio = ({ plain, drafted }: Comparison): number | null =>
  plain.stats.tokens_per_second > 0 && drafted.stats.tokens_per_second > 0
    ? drafted.stats.tokens_per_second / plain.stats.tokens_per_second
    : null;

/** What drafts have gained or cost in this one reply. */
export function ratioSentence(comparison: Comparison): string {
  const ratio = comparisonRatio(comparison);
  if (ratio === null) return t("benchmarks-ratio.short");
  if (ratio > MARGIN) return t("benchmarks-ratio.faster", { times: times(ratio) });
  if (ratio < 1 / MARGIN) return t("benchmarks-ratio.slower", { times: times(ratio) });
  return t("benchmarks-ratio.same");
}

/** Whether both texts are the same, and whether they have to be. */
export function verdictSentence({ verdict, sampling }: Comparison): string {
  switch (verdict.verdict) {
    case "equal":
      return t(sampling.temperature === 0 ? "benchmarks-texts.equal" : "benchmarks-texts.equal-drawn");
    case "different":
      return t("benchmarks-texts.different", { tokens: verdict.after });
    case "rounded":
      return t(
        sampling.acceptance === "strict" ? "benchmarks-texts.rounded-strict" : "benchmarks-texts.rounded",
        { tokens: verdict.after },
      );
    case "same_chances":
      return t("benchmarks-texts.same-chances");
  }
}

/** What a comparison does now. */
export function progressLabel(progress: ComparisonProgress | null): string {
  if (progress === null) return t("benchmarks-progress.beginning");
  if (progress.stage === "reading")
    return t("benchmarks-progress.reading", { done: progress.done, total: progress.total });
  return t(progress.drafts ? "benchmarks-progress.drafted" : "benchmarks-progress.plain", {
    tokens: progress.tokens,
  });
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
  if (comparing) return t("benchmarks-refused.comparing");
  if (engine.state !== "ready") return t("benchmarks-refused.no-model");
  // Where drafts are off they are compared with Auto, which all models can.
  if (needsHead(drafting) && engine.model.mtp.state !== "present") return t("benchmarks-refused.no-head");
  if (drafting.mode === "dflash" && engine.model.draft_model === null)
    return t("benchmarks-refused.no-draft-model");
  return writing ? t("benchmarks-refused.writing") : null;
}

/** Where a benchmark ran, and how. */
export function benchmarkNotes(benchmark: Benchmark, here: MachineName): string {
  const { runs, gen_tokens: tokens, app_version: version, device, format, machine, texts } = benchmark;
  const facts = [
    timeLabel(benchmark.measured_at),
    `Foretoken ${version}`,
    t("benchmarks-notes.place", {
      format: formatLabel(format),
      processor: device === "cpu" ? "cpu" : "gpu",
      place: machine.chip === here.chip && machine.ram_bytes === here.ram_bytes ? "here" : "elsewhere",
      machine: machineLabel(machine),
      memory: benchmark.kv_precision,
    }),
    t("benchmarks-notes.runs", { runs, tokens, texts: texts.length > 1 ? "both" : "one" }),
    benchmark.strained && t("benchmarks-notes.strained"),
  ];
  return t("benchmarks-notes", { facts: facts.filter(Boolean).join(" · ") });
}
