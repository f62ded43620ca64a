import { useEffect, useMemo } from "react";
import { ErrorNote } from "../frame/ErrorNote";
import { Screen } from "../frame/Screen";
import { t } from "../language/text";
import { Icon } from "../primitives/icons";
import { MenuButton } from "../primitives/MenuButton";
import { useStore } from "../state/store";
import { exportBenchmarks, loadHistory } from "./actions";
import { History } from "./History";
import { Measure, ModelChoice, Running } from "./Measure";
import { benchmarksOf, subject, subjects } from "./models";
import { Result } from "./Result";
import { SideBySide } from "./SideBySide";
import { useBenchmarks } from "./store";

/** How fast the models are here: measured, over time, and one question with drafts and without. */
export function BenchmarksScreen() {
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
  // Where something on the screen was asked for, the focus goes there.
  const takesFocus = useBenchmarks((state) => !state.spotlight);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a benchmark that has ended is in the history
  useEffect(() => void loadHistory(), [ended]);
  const all = subjects(library, history);
  const shown = subject(all, model, selected);
  const name = shown?.name ?? null;
  const benchmarks = useMemo(() => (name === null ? [] : benchmarksOf(history, name)), [history, name]);
  return (
    <Screen
      title={t("benchmarks-title")}
      testId="benchmarks-screen"
      takesFocus={takesFocus}
      subject={<ModelChoice all={all} shown={shown} />}
      tools={
        <>
          <Measure shown={shown} />
          <MenuButton
            label={t("benchmarks-export")}
            testId="benchmarks-export"
            entries={(["json", "csv"] as const).map((format) => ({
              name: t("benchmarks-export.as", { format: format.toUpperCase() }),
              reason: history?.benchmarks.length ? null : t("benchmarks-export.none"),
              onSelect: () => exportBenchmarks(format),
            }))}
          >
            <Icon name="more" />
          </MenuButton>
        </>
      }
    >
      <div className="screen-column">
        {error && <ErrorNote error={error} testId="benchmarks-error" />}
        {exported !== null && (
          <p className="notice" role="status">
            {t("benchmarks-export.done", { path: exported })}
          </p>
        )}
        <Running />
        <Result benchmarks={benchmarks} />
        <History name={name} format={shown?.local?.format ?? null} benchmarks={benchmarks} />
        <SideBySide />
      </div>
    </Screen>
  );
}
