import type { Benchmark, BenchmarkFormat, ComparisonProgress, ComparisonSource } from "../bridge/bindings";
import { reportOf, shell } from "../bridge/bridge";
import { chatQueue, settingsQueue } from "../bridge/serialQueue";
import { loadLibrary } from "../models/actions";
import { setView, useStore } from "../state/store";
import { setBenchmarks, useBenchmarks } from "./store";

const state = () => useBenchmarks.getState();

/** Does something; if it fails, the screen says why. */
async function attempt(act: () => Promise<unknown>): Promise<void> {
  setBenchmarks({ error: null });
  try {
    await act();
  } catch (error) {
    setBenchmarks({ error: reportOf(error) });
  }
}

export function openBenchmarks(): void {
  setView({ screen: "benchmarks", modelPicker: false });
  if (useStore.getState().library === null) loadLibrary();
}

/** Asks for the history, as after a benchmark. */
export const loadHistory = () =>
  attempt(async () => setBenchmarks({ history: await shell.benchmarks(), shown: null }));

export const runBenchmark = (path: string) =>
  attempt(async () => {
    await shell.runBenchmark(path, state().plan);
    setBenchmarks({ model: path });
  });

export const deleteBenchmark = (benchmark: Benchmark) =>
  attempt(async () => {
    await shell.deleteBenchmark(benchmark.measured_at);
    setBenchmarks({ deleted: benchmark });
    await loadHistory();
  });

/** Brings back what was deleted last. */
export const undoDelete = () =>
  attempt(async () => {
    const { deleted } = state();
    if (deleted === null) return;
    await shell.restoreBenchmark(deleted.measured_at);
    setBenchmarks({ deleted: null });
    await loadHistory();
  });

/** Writes the whole history into a file that the person chooses. */
export const exportBenchmarks = (format: BenchmarkFormat) =>
  attempt(async () => {
    const path = await shell.exportBenchmarks(format);
    if (path !== null) setBenchmarks({ exported: path });
  });

/** Answers a question without drafts and with them. */
export async function compare(source: ComparisonSource, question: string): Promise<void> {
  if (state().sideBySide.stage === "running") return;
  const onProgress = (progress: ComparisonProgress) => {
    const { sideBySide } = state();
    if (sideBySide.stage === "running") setBenchmarks({ sideBySide: { ...sideBySide, progress } });
  };
  setBenchmarks({ sideBySide: { stage: "running", question, progress: null, stopping: false } });
  try {
    // It goes by what was changed before.
    await Promise.all([chatQueue.settled(), settingsQueue.settled()]);
    const { sideBySide } = state();
    if (sideBySide.stage === "running" && sideBySide.stopping) {
      setBenchmarks({ sideBySide: { stage: "none" } });
      return;
    }
    const comparison = await shell.compare(source, onProgress);
    setBenchmarks({
      sideBySide: comparison === null ? { stage: "none" } : { stage: "done", comparison },
    });
  } catch (error) {
    setBenchmarks({ sideBySide: { stage: "failed", question, error: reportOf(error) } });
  }
}

/** Compares a question of a chat, where the comparison is shown. */
export function compareMessage(message: number, question: string): void {
  setBenchmarks({ spotlight: true });
  openBenchmarks();
  compare({ source: "message", message }, question);
}

export function cancelComparison(): void {
  const { sideBySide } = state();
  if (sideBySide.stage !== "running") return;
  setBenchmarks({ sideBySide: { ...sideBySide, stopping: true } });
  attempt(() => shell.cancelComparison());
}
