import type { Benchmark, MachineName } from "../bridge/bindings";
import { t } from "../language/text";
import { Icon } from "../primitives/icons";
import { deleteBenchmark } from "./actions";
import { metricValue, series, strange, timeLabel } from "./labels";
import { setBenchmarks, useBenchmarks } from "./store";

interface Props {
  benchmarks: Benchmark[];
  here: MachineName;
  /** Of the model as it is here; null if it is not. */
  format: string | null;
}

/** Every result, newest first. */
export function HistoryTable({ benchmarks, here, format }: Props) {
  const metric = useBenchmarks((state) => state.metric);
  const shown = useBenchmarks((state) => state.shown);
  const lines = series(metric, benchmarks);
  const newest = benchmarks.at(-1)?.measured_at;
  return (
    <section
      className="table-place"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable with the keyboard
      tabIndex={0}
      aria-label={t("benchmarks-results")}
    >
      <table className="table numbers" data-testid="benchmark-history">
        <thead>
          <tr>
            <th scope="col">{t("benchmarks-results.measured")}</th>
            <th scope="col">Foretoken</th>
            {lines.map(({ name }) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
            <th scope="col" className="table-end">
              <span className="off-screen">{t("benchmarks-results.delete")}</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {benchmarks
            .map((benchmark, index) => ({ benchmark, index }))
            .toReversed()
            .map(({ benchmark, index }) => {
              const { measured_at: time } = benchmark;
              const odd = strange(benchmark, here, format);
              return (
                <tr key={time} data-testid="benchmark-entry">
                  <th scope="row">
                    <button
                      type="button"
                      className="word-button"
                      aria-pressed={time === (shown ?? newest)}
                      title={t("benchmarks-results.show")}
                      onClick={() => setBenchmarks({ shown: time })}
                    >
                      {timeLabel(time)}
                    </button>
                    {odd && <span className="odd">{odd}</span>}
                    {benchmark.kv_precision === "eight" && (
                      <span className="odd">{t("benchmarks-results.eight")}</span>
                    )}
                  </th>
                  <td>{benchmark.app_version}</td>
                  {lines.map(({ name, values }) => {
                    const value = values[index] ?? null;
                    return (
                      <td key={name}>
                        {value === null ? (
                          <abbr title={t("benchmarks-results.unmeasured")}>–</abbr>
                        ) : (
                          metricValue(metric, value)
                        )}
                      </td>
                    );
                  })}
                  <td className="table-end">
                    <button
                      type="button"
                      className="icon-button"
                      aria-label={t("benchmarks-results.delete-one", { time: timeLabel(time) })}
                      title={t("benchmarks-results.delete")}
                      data-testid="delete-benchmark"
                      onClick={() => deleteBenchmark(benchmark)}
                    >
                      <Icon name="close" />
                    </button>
                  </td>
                </tr>
              );
            })}
        </tbody>
      </table>
    </section>
  );
}
