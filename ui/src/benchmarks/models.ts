import type { Benchmark, BenchmarkHistory, LibrarySnapshot, LocalModel } from "../bridge/bindings";

/** A model to look at. */
export interface Subject {
  /** Its folder, or its name where only the history knows it. */
  key: string;
  name: string;
  /** The model as it is here; null if it is not. */
  local: LocalModel | null;
}

/** The models that can be measured, then those that only the history knows. */
export function subjects(library: LibrarySnapshot | null, history: BenchmarkHistory | null): Subject[] {
  const here = (library?.models ?? []).filter(({ state }) => state.state === "ready");
  const known = here.map((local): Subject => ({ key: local.path, name: local.name, local }));
  const names = new Set((history?.benchmarks ?? []).map(({ model }) => model));
  for (const { name } of known) names.delete(name);
  return [...known, ...[...names].map((name): Subject => ({ key: name, name, local: null }))];
}

/** The one that is looked at: the chosen one, or else the one that answers. */
export const subject = (all: Subject[], chosen: string | null, selected: string): Subject | null =>
  all.find(({ key }) => key === chosen) ?? all.find(({ key }) => key === selected) ?? all[0] ?? null;

/** Everything that was measured of a model, oldest first. */
export const benchmarksOf = (history: BenchmarkHistory | null, name: string): Benchmark[] =>
  (history?.benchmarks ?? []).filter(({ model }) => model === name);
