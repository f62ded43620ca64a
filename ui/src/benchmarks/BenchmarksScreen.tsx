import { useEffect, useMemo, useRef, useState } from "react";
import { ErrorNote } from "../components/ErrorNote";
import { Icon } from "../components/icons";
import { MenuButton } from "../components/MenuButton";
import { SidebarToggle } from "../components/Sidebar";
import { useStore } from "../store";
import { exportHistory, loadHistory } from "./actions";
import { History } from "./History";
import { Measure } from "./Measure";
import { benchmarksOf, subject, subjects } from "./models";
import { Result } from "./Result";
import { SideBySide } from "./SideBySide";
import { useBenchmarks } from "./store";

/** How fast the models are here: measured, over time, and one question with drafts and without. */
export function BenchmarksScreen() {
  const sidebar = useStore((state) => state.sidebar);
  const library = useStore((state) => state.library);
  const selected = useStore((state) => state.selectedModel);
  const ended = useStore(
    (state) =>
      state.library?.jobs.filter(({ kind, stage }) => kind === "benchmark" && stage.stage === "done").length,
  );
  const history = useBenchmarks((state) => state.history);
  const model = useBenchmarks((state) => state.model);
  const error = useBenchmarks((state) => state.error);
  const exported = useBenchmarks((state) => state.exported);
  const heading = useRef<HTMLHeadingElement>(null);
  const [scrolled, setScrolled] = useState(false);
  // Where something on the screen was asked for, the focus goes there.
  const [atTop] = useState(() => !useBenchmarks.getState().spotlight);
  useEffect(() => {
    if (atTop) heading.current?.focus({ preventScroll: true });
  }, [atTop]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a benchmark that has ended is in the history
  useEffect(() => void loadHistory(), [ended]);
  const all = subjects(library, history);
  const shown = subject(all, model, selected);
  const name = shown?.name ?? null;
  const benchmarks = useMemo(() => (name === null ? [] : benchmarksOf(history, name)), [history, name]);
  return (
    <main className="main">
      <header className="toolbar" data-tauri-drag-region>
        {!sidebar && <SidebarToggle />}
        <h1 ref={heading} tabIndex={-1} className="screen-title">
          Benchmarks
        </h1>
        <span className="spring" data-tauri-drag-region />
        <MenuButton
          label="Export all benchmarks"
          testId="benchmarks-export"
          entries={(["json", "csv"] as const).map((format) => ({
            name: `Export as ${format.toUpperCase()}…`,
            reason: history?.benchmarks.length ? null : "There are none yet.",
            onSelect: () => exportHistory(format),
          }))}
        >
          <Icon name="more" />
        </MenuButton>
      </header>
      <div className={scrolled ? "screen-place scrolled" : "screen-place"}>
        <div
          className="screen"
          data-testid="benchmarks-screen"
          onScroll={(event) => setScrolled(event.currentTarget.scrollTop > 0)}
        >
          <div className="screen-column">
            {error && <ErrorNote error={error} testId="benchmarks-error" />}
            {exported !== null && (
              <p className="notice" role="status">
                Exported to {exported}
              </p>
            )}
            <Measure all={all} shown={shown} />
            <Result benchmarks={benchmarks} />
            <History name={name} format={shown?.local?.format ?? null} benchmarks={benchmarks} />
            <SideBySide />
          </div>
        </div>
      </div>
    </main>
  );
}
