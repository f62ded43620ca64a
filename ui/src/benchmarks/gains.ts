import { useMemo } from "react";
import type { Benchmark, BenchmarkHistory, Drafting, ModelInfo, Spread } from "../bridge/bindings";
import { useStore } from "../state/store";
import { strange } from "./labels";
import { benchmarksOf } from "./models";
import { useBenchmarks } from "./store";
import { verdict, type Way } from "./verdict";

/** A model's newest benchmark on this machine; null where there is none that can be compared. */
export const newestHere = (
  history: BenchmarkHistory,
  name: string,
  format: string | null,
): Benchmark | null =>
  benchmarksOf(history, name).findLast((benchmark) => strange(benchmark, history.machine, format) === null) ??
  null;

/** The ways of that benchmark, each over all texts, as a chat may ask for any. */
export function waysHere(history: BenchmarkHistory | null, name: string, format: string): Way[] {
  const newest = history && newestHere(history, name, format);
  return newest ? verdict(newest).ways : [];
}

/** How fast a way to guess is, times plain; null where that was not measured. Of several blocks it is the best one. */
export function gainOf(drafting: Drafting, ways: readonly Way[]): Spread | null {
  const found = ways.filter(({ drafting: way }) =>
    way.mode === "fixed" && drafting.mode === "fixed"
      ? way.depth === drafting.depth
      : way.mode === drafting.mode && way.mode !== "off",
  );
  return found.reduce<Spread | null>(
    (best, { gain }) => (best === null || gain.median > best.median ? gain : best),
    null,
  );
}

/** The ways of the model that is loaded, as it was measured last. */
export function useWaysHere(model: ModelInfo | null): Way[] {
  const history = useBenchmarks((state) => state.history);
  const name = useStore(
    ({ library }) => library?.models.find(({ path }) => path === model?.path)?.name ?? model?.name ?? "",
  );
  const format = model?.format ?? "";
  return useMemo(() => waysHere(history, name, format), [history, name, format]);
}
