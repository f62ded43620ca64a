import { create } from "zustand";
import type {
  Benchmark,
  BenchmarkHistory,
  BenchmarkPlan,
  Comparison,
  ComparisonProgress,
  ErrorReport,
  KvPrecision,
} from "../bridge/bindings";

/** What is plotted over time. */
export type Metric = "prose" | "code" | "reading" | "memory";

/** How far the comparison of one question has come. */
export type SideBySide =
  | { stage: "none" }
  | { stage: "running"; question: string; progress: ComparisonProgress | null; stopping: boolean }
  | { stage: "done"; comparison: Comparison }
  | { stage: "failed"; question: string; error: ErrorReport };

interface View {
  /** Every benchmark that is kept; null until asked for. */
  history: BenchmarkHistory | null;
  /**
   * The model that is looked at, by its folder, or by its name where only the history knows it; null leaves it open.
   */
  model: string | null;
  plan: BenchmarkPlan;
  metric: Metric;
  /** Which of the benchmarks are plotted, by how keys and values were kept; null is as in the newest. */
  kvPrecision: KvPrecision | null;
  /** The benchmark whose numbers are shown; null is the newest. */
  shown: number | null;
  /** What was deleted last and can be brought back. */
  deleted: Benchmark | null;
  /** Where the history was exported to last. */
  exported: string | null;
  /** Why the last action failed. */
  error: ErrorReport | null;
  /** The question to compare that is being typed; null is the one that is proposed. */
  prompt: string | null;
  sideBySide: SideBySide;
  /** Somebody asked for the comparison: it comes into view. */
  spotlight: boolean;
}

export const useBenchmarks = create<View>(() => ({
  history: null,
  model: null,
  plan: { texts: "both", drafts: true, prompt: true, thorough: false },
  metric: "prose",
  kvPrecision: null,
  shown: null,
  deleted: null,
  exported: null,
  error: null,
  prompt: null,
  sideBySide: { stage: "none" },
  spotlight: false,
}));

export const setBenchmarks = (view: Partial<View>): void => useBenchmarks.setState(view);
