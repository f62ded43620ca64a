import type { AutoSpeed, Benchmark, DepthSpeed, TextSpeed } from "../bridge/bindings";
import { Fold } from "../frame/Fold";
import { bytes, count, perPass, rate, seconds } from "../primitives/format";
import { acceptanceLabel, benchmarkNotes, spread, TEXTS, timeLabel } from "./labels";
import { axisOf, Ranges } from "./Ranges";
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
  const { prefill_tokens_per_second: prefill, peak_memory_bytes: peak } = benchmark;
  const axis = axisOf(found.texts.flatMap(({ ways }) => ways));
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
      {found.texts
        .filter(({ ways }) => ways.length > 1)
        .map((text, index) => (
          <Ranges
            key={text.kind}
            text={text}
            axis={axis}
            note={index === 0 ? `tok/s, lowest to highest of ${count(benchmark.runs)} runs` : undefined}
          />
        ))}
      {autoNotes(benchmark).map((note) => (
        <p key={note} className="part-note">
          {note}
        </p>
      ))}
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
      <p className="part-note">{benchmarkNotes(benchmark, machine)}.</p>
    </section>
  );
}

/** Why Auto used no drafts, once for all texts where it says the same of each. */
function autoNotes({ texts }: Benchmark): string[] {
  const notes = texts.flatMap(({ kind, auto }) => (auto?.note ? [{ kind, note: auto.note }] : []));
  const same = notes.length === texts.length && notes.every(({ note }) => note === notes[0]?.note);
  if (same) return notes.slice(0, 1).map(({ note }) => `Auto: ${note}`);
  return notes.map(({ kind, note }) => `Auto, ${TEXTS[kind].name.toLowerCase()}: ${note}`);
}

function Figures({ benchmark: { texts } }: { benchmark: Benchmark }) {
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
        {texts.map((text) => (
          <Rows key={text.kind} text={text} />
        ))}
      </table>
    </section>
  );
}

/** The lines of one kind of text. */
function Rows({ text: { kind, depths, dflash, auto, lookup } }: { text: TextSpeed }) {
  return (
    <tbody>
      <tr className="table-group">
        <th scope="rowgroup" colSpan={5}>
          {TEXTS[kind].name}
        </th>
      </tr>
      {depths.map((depth) => (
        <Row key={depth.depth} name={wayName(depth.depth)} speed={depth} />
      ))}
      {auto && <Row name="Auto" speed={auto} />}
      {dflash.map((depth) => (
        <Row key={`dflash ${depth.depth}`} name={`DFlash ${depth.depth}`} speed={depth} />
      ))}
      {lookup && <Row name="Look-up" speed={lookup} />}
    </tbody>
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
