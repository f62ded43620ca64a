import { lazy, memo, Suspense, useId, useMemo } from "react";
import type { Benchmark, KvPrecision } from "../bridge/bindings";
import { t } from "../language/text";
import { sentences } from "../primitives/format";
import { Segments } from "../primitives/Segments";
import { undoDelete } from "./actions";
import { HistoryTable } from "./HistoryTable";
import { chartSentence, metrics, plotted, series, strange, timeLabel } from "./labels";
import { loadPlot } from "./loadPlot";
import { setBenchmarks, useBenchmarks } from "./store";

/** How keys and values were kept, of which each is plotted by itself. */
const precisions = (): { name: string; value: KvPrecision }[] => [
  { name: t("benchmarks-plotted.full"), value: "full" },
  { name: t("benchmarks-plotted.eight"), value: "eight" },
];

/** The chart's program is there once something is plotted. */
const Plot = lazy(loadPlot);

interface Props {
  /** What the model is called; null where there is none. */
  name: string | null;
  /** Of the model as it is here; null if it is not. */
  format: string | null;
  benchmarks: Benchmark[];
}

/** What was measured of a model over time, as a chart and as a table. */
export const History = memo(function History({ name, format, benchmarks }: Props) {
  const metric = useBenchmarks((state) => state.metric);
  const history = useBenchmarks((state) => state.history);
  const here = history?.machine;
  const alike = useMemo(
    () => benchmarks.filter((benchmark) => here && strange(benchmark, here, format) === null),
    [benchmarks, here, format],
  );
  const chosen = useBenchmarks((state) => state.kvPrecision);
  const { precision, benchmarks: shown, others } = useMemo(() => plotted(alike, chosen), [alike, chosen]);
  const times = useMemo(() => shown.map(({ measured_at: time }) => time), [shown]);
  const lines = useMemo(() => series(metric, shown), [metric, shown]);
  const captionId = useId();
  if (history === null || here === undefined) return null;
  if (benchmarks.length === 0)
    return (
      <section className="part" aria-label={t("benchmarks-over-time")}>
        <div className="nothing-measured" data-testid="no-benchmarks">
          <svg viewBox="0 0 120 20" width="120" height="20" aria-hidden="true">
            <path className="unmeasured-plain" d="M30 0V20" />
            <rect className="unmeasured-guess" x="58" y="5" width="40" height="10" rx="5" />
          </svg>
          <strong>{t("benchmarks-nothing.question")}</strong>
          <p>{name === null ? t("benchmarks-nothing") : t("benchmarks-nothing.of-model", { name })}</p>
        </div>
        <Aftermath unreadable={history.unreadable} />
      </section>
    );
  const left = benchmarks.length - alike.length;
  return (
    <section className="part" aria-label={t("benchmarks-over-time")}>
      <header className="part-head wraps">
        <h2>{t("benchmarks-over-time")}</h2>
        <span className="spring" />
        {others > 0 && (
          <Segments
            label={t("benchmarks-plotted")}
            choices={precisions()}
            at={precisions().findIndex(({ value }) => value === precision)}
            testId="plotted"
            onChoose={(kvPrecision) => setBenchmarks({ kvPrecision })}
          />
        )}
        <Segments
          label={t("benchmarks-metric")}
          choices={metrics().map(({ metric: value, name }) => ({ name, value }))}
          at={metrics().findIndex((one) => one.metric === metric)}
          testId="metric"
          onChoose={(metric) => setBenchmarks({ metric })}
        />
      </header>
      <figure className="chart">
        {lines.length > 0 && (
          <div className="chart-place" role="img" aria-labelledby={captionId} data-testid="benchmark-chart">
            <Suspense>
              <Plot metric={metric} times={times} lines={lines} />
            </Suspense>
          </div>
        )}
        {lines.length > 1 && (
          <ul className="legend" aria-hidden="true">
            {lines.map(({ name, depth }) => (
              <li key={name}>
                <svg
                  viewBox="0 0 28 8"
                  width="28"
                  height="8"
                  aria-hidden="true"
                  className={`sample depth-${depth}`}
                >
                  <path d="M0 4h28" />
                  <circle cx="14" cy="4" r="3" />
                </svg>
                {name}
              </li>
            ))}
          </ul>
        )}
        <figcaption id={captionId} className="part-note" data-testid="chart-sentence">
          {sentences(
            chartSentence(metric, shown),
            others > 0 && t("benchmarks-apart", { results: others, memory: otherThan(precision) }),
            left > 0 && t("benchmarks-strange.results", { results: left }),
          )}
        </figcaption>
      </figure>
      <HistoryTable benchmarks={benchmarks} here={here} format={format} />
      <Aftermath unreadable={history.unreadable} />
    </section>
  );
});

const otherThan = (precision: KvPrecision): KvPrecision => (precision === "full" ? "eight" : "full");

/** What was deleted last, and what of the file cannot be read. */
function Aftermath({ unreadable }: { unreadable: number }) {
  const deleted = useBenchmarks((state) => state.deleted);
  return (
    <>
      {deleted && (
        <p className="notice aftermath" role="status" data-testid="benchmark-deleted">
          <span className="spring">
            {t("benchmarks-deleted", { model: deleted.model, time: timeLabel(deleted.measured_at) })}
          </span>
          <button type="button" className="quiet-button" data-testid="benchmark-undo" onClick={undoDelete}>
            {t("benchmarks-deleted.undo")}
          </button>
        </p>
      )}
      {unreadable > 0 && <p className="part-note">{t("benchmarks-unreadable", { lines: unreadable })}</p>}
    </>
  );
}
