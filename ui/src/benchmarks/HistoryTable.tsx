import type { Benchmark, MachineName } from "../bridge/bindings";
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
      aria-label="All results"
    >
      <table className="table numbers" data-testid="benchmark-history">
        <thead>
          <tr>
            <th scope="col">Measured</th>
            <th scope="col">Foretoken</th>
            {lines.map(({ name }) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
            <th scope="col" className="table-end">
              <span className="off-screen">Delete</span>
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
                      title="Show this result"
                      onClick={() => setBenchmarks({ shown: time })}
                    >
                      {timeLabel(time)}
                    </button>
                    {odd && <span className="odd">{odd}</span>}
                    {benchmark.kv_precision === "eight" && (
                      <span className="odd">Smaller memory (8-bit)</span>
                    )}
                  </th>
                  <td>{benchmark.app_version}</td>
                  {lines.map(({ name, values }) => {
                    const value = values[index] ?? null;
                    return (
                      <td key={name}>
                        {value === null ? <abbr title="not measured">–</abbr> : metricValue(metric, value)}
                      </td>
                    );
                  })}
                  <td className="table-end">
                    <button
                      type="button"
                      className="icon-button"
                      aria-label={`Delete the result of ${timeLabel(time)}`}
                      title="Delete"
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
