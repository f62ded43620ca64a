import type { AutoSpeed, Benchmark, DepthSpeed } from "../bridge/bindings";
import { Fold } from "../frame/Fold";
import { bytes, count, perPass, rate, seconds } from "../primitives/format";
import { acceptanceLabel, benchmarkNotes, spread, timeLabel } from "./labels";
import { Ranges } from "./Ranges";
import { setBenchmarks, useBenchmarks } from "./store";
import { times, verdict, wayName } from "./verdict";

const gain = (ratio: number) => `${times(ratio)}×`;

/** What one benchmark found: the newest, or the one that was chosen from the history. */
export function Result({ benchmarks }: { benchmarks: Benchmark[] }) {
  const shown = useBenchmarks((state) => state.shown);
  const machine = useBenchmarks((state) => state.history?.machine);
  const newest = benchmarks.at(-1);
  const benchmark = benchmarks.find(({ measured_at }) => measured_at === shown) ?? newest;
  if (benchmark === undefined || newest === undefined || machine === undefined) return null;
  const found = verdict(benchmark);
  const { auto, prefill_tokens_per_second: prefill, peak_memory_bytes: peak } = benchmark;
  return (
    <section className="part" aria-label="Result" data-testid="benchmark-result">
      <header className="result-head">
        <div role="status">
          <h2 className="result-sentence" data-testid="benchmark-sentence">
            {found.sentence}
          </h2>
        </div>
        {found.detail !== "" && <p className="result-detail">{found.detail}</p>}
        {benchmark !== newest && (
          <p className="result-detail">
            This is an earlier result, of {timeLabel(benchmark.measured_at)}.{" "}
            <button type="button" className="word-button" onClick={() => setBenchmarks({ shown: null })}>
              Show the newest
            </button>
          </p>
        )}
      </header>
      {found.ways.length > 1 && <Ranges verdict={found} />}
      {auto?.note && <p className="part-note">Auto: {auto.note}</p>}
      <div className="folds">
        <Fold name="All figures" value={`${count(benchmark.runs)} runs`} testId="fold-figures">
          <Figures benchmark={benchmark} />
        </Fold>
        {prefill && (
          <Fold
            name={`Reading a prompt of ${count(benchmark.prompt_tokens)} tokens`}
            value={`${spread(prefill, rate)} tok/s`}
          />
        )}
        <Fold name="Memory at most" value={spread(peak, bytes)} />
        <Fold name="Loaded in" value={spread(benchmark.load_seconds, seconds)} />
      </div>
      <p className="part-note">{benchmarkNotes(benchmark, machine)}. Lowest to highest of all runs.</p>
    </section>
  );
}

function Figures({ benchmark: { depths, dflash, auto } }: { benchmark: Benchmark }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable with the keyboard
    <section className="table-place" tabIndex={0} aria-label="Speed by number of guesses">
      <table className="table numbers" data-testid="benchmark-table">
        <thead>
          <tr>
            <th scope="col">Guesses</th>
            <th scope="col">Tokens/s</th>
            <th scope="col">Against plain</th>
            <th scope="col">Per pass</th>
            <th scope="col" className="by-position">
              Accepted by position
            </th>
          </tr>
        </thead>
        <tbody>
          {depths.map((depth) => (
            <Row key={depth.depth} name={wayName(depth.depth)} speed={depth} />
          ))}
          {dflash.map((depth) => (
            <Row key={`dflash ${depth.depth}`} name={`DFlash ${depth.depth}`} speed={depth} />
          ))}
          {auto && <Row name="Auto" speed={auto} />}
        </tbody>
      </table>
    </section>
  );
}

/** A line of the table. */
function Row({ name, speed }: { name: string; speed: DepthSpeed | AutoSpeed }) {
  return (
    <tr>
      <th scope="row">{name}</th>
      <td>{spread(speed.tokens_per_second, rate)}</td>
      <td>{speed.speed_up === null || name === "Plain" ? "–" : spread(speed.speed_up, gain)}</td>
      <td>{perPass(speed.tokens_per_pass.median)}</td>
      <td className="by-position">{"positions" in speed ? acceptanceLabel(speed.positions) : "–"}</td>
    </tr>
  );
}
