import type { AutoSpeed, Benchmark, DepthSpeed } from "../bridge/bindings";
import { Fact } from "../primitives/Fact";
import { bytes, count, perPass, rate, seconds } from "../primitives/format";
import {
  acceptanceLabel,
  benchmarkNotes,
  benchmarkSentence,
  depthName,
  fastest,
  spread,
  times,
} from "./labels";
import { setBenchmarks, useBenchmarks } from "./store";

const gain = (ratio: number) => `${times(ratio)}×`;

/** What one benchmark found: the newest, or the one that was chosen from the history. */
export function Result({ benchmarks }: { benchmarks: Benchmark[] }) {
  const shown = useBenchmarks((state) => state.shown);
  const machine = useBenchmarks((state) => state.history?.machine);
  const newest = benchmarks.at(-1);
  const benchmark = benchmarks.find(({ measured_at }) => measured_at === shown) ?? newest;
  if (benchmark === undefined || newest === undefined || machine === undefined) return null;
  const best = fastest([...benchmark.depths, ...benchmark.dflash]);
  const { auto, prefill_tokens_per_second: prefill, peak_memory_bytes: peak } = benchmark;
  return (
    <section className="part" aria-label="Result" data-testid="benchmark-result">
      <header className="part-head">
        <h2>{benchmark === newest ? "Newest result" : "Earlier result"}</h2>
        <span className="spring" />
        {benchmark !== newest && (
          <button type="button" className="quiet-button" onClick={() => setBenchmarks({ shown: null })}>
            Show the newest
          </button>
        )}
      </header>
      <p className="result-sentence" role="status" data-testid="benchmark-sentence">
        {benchmarkSentence(benchmark)}
      </p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable with the keyboard */}
      <section className="table-place" tabIndex={0} aria-label="Speed by number of drafts">
        <table className="table numbers" data-testid="benchmark-table">
          <thead>
            <tr>
              <th scope="col">Drafts</th>
              <th scope="col">Tokens/s</th>
              <th scope="col">Against plain</th>
              <th scope="col">Per pass</th>
              <th scope="col" className="by-position">
                Accepted by position
              </th>
            </tr>
          </thead>
          <tbody>
            {benchmark.depths.map((depth) => (
              <Row key={depth.depth} name={depthName(depth.depth)} speed={depth} best={depth === best} />
            ))}
            {benchmark.dflash.map((depth) => (
              <Row
                key={`dflash ${depth.depth}`}
                name={`DFlash ${depth.depth}`}
                speed={depth}
                best={depth === best}
              />
            ))}
            {auto && <Row name="Auto" speed={auto} best={false} />}
          </tbody>
        </table>
      </section>
      {auto?.note && <p className="part-note">Auto: {auto.note}</p>}
      <dl className="facts numbers">
        {prefill && (
          <Fact name={`Prompt of ${count(benchmark.prompt_tokens)} tokens`}>
            read at {spread(prefill, rate)} tokens/s
          </Fact>
        )}
        <Fact name="Memory at most">{spread(peak, bytes)}</Fact>
        <Fact name="Loaded in">{spread(benchmark.load_seconds, seconds)}</Fact>
      </dl>
      <p className="part-note">
        {benchmarkNotes(benchmark, machine)}. Median, and least to most of all runs.
      </p>
    </section>
  );
}

/** A line of the table. */
function Row({ name, speed, best }: { name: string; speed: DepthSpeed | AutoSpeed; best: boolean }) {
  return (
    <tr className={best ? "best" : undefined}>
      <th scope="row">
        {name}
        {best && <span className="best-word"> fastest</span>}
      </th>
      <td>{spread(speed.tokens_per_second, rate)}</td>
      <td>{speed.speed_up === null || name === "Plain" ? "–" : spread(speed.speed_up, gain)}</td>
      <td>{perPass(speed.tokens_per_pass.median)}</td>
      <td className="by-position">{"positions" in speed ? acceptanceLabel(speed.positions) : "–"}</td>
    </tr>
  );
}
