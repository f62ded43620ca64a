import type { AutoSpeed, Benchmark, DepthSpeed, TextSpeed } from "../bridge/bindings";
import { Fold } from "../frame/Fold";
import { RichText } from "../language/RichText";
import { t } from "../language/text";
import { bytes, draftingName, draftingNoteLabel, perPass, rate, seconds } from "../primitives/format";
import { acceptanceLabel, benchmarkNotes, spread, textWords, timeLabel } from "./labels";
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
    <section className="part" aria-label={t("benchmarks-result")} data-testid="benchmark-result">
      <header className="result-head">
        <div role="status">
          <h2 className="result-sentence" data-testid="benchmark-sentence">
            {found.sentence}
          </h2>
        </div>
        {found.detail !== "" && <p className="result-detail">{found.detail}</p>}
        {benchmark !== newest && (
          <p className="result-detail">
            <RichText
              id="benchmarks-earlier"
              args={{ time: timeLabel(benchmark.measured_at) }}
              parts={{
                newest: (words) => (
                  <button
                    type="button"
                    className="word-button"
                    onClick={() => setBenchmarks({ shown: null })}
                  >
                    {words}
                  </button>
                ),
              }}
            />
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
            note={index === 0 ? t("benchmarks-ranges-note", { runs: benchmark.runs }) : undefined}
          />
        ))}
      {autoNotes(benchmark).map((note) => (
        <p key={note} className="part-note">
          {note}
        </p>
      ))}
      <div className="folds">
        <Fold
          name={t("benchmarks-figures")}
          value={t("benchmarks-figures.runs", { runs: benchmark.runs })}
          testId="fold-figures"
        >
          <Figures benchmark={benchmark} />
        </Fold>
        {prefill && (
          <Fold
            name={t("benchmarks-prompt-read", { tokens: benchmark.prompt_tokens })}
            value={`${spread(prefill, rate)} tok/s`}
          />
        )}
        <Fold name={t("benchmarks-peak")} value={spread(peak, bytes)} />
        <Fold name={t("benchmarks-loaded")} value={spread(benchmark.load_seconds, seconds)} />
      </div>
      <p className="part-note">{benchmarkNotes(benchmark, machine)}</p>
    </section>
  );
}

/** Why Auto used no drafts, once for all texts where it says the same of each. */
function autoNotes({ texts }: Benchmark): string[] {
  const notes = texts.flatMap(({ kind, auto }) =>
    auto?.note ? [{ kind, note: draftingNoteLabel(auto.note) }] : [],
  );
  const same = notes.length === texts.length && notes.every(({ note }) => note === notes[0]?.note);
  if (same) return notes.slice(0, 1).map(({ note }) => t("benchmarks-auto", { about: "both", note }));
  return notes.map(({ kind: about, note }) => t("benchmarks-auto", { about, note }));
}

function Figures({ benchmark: { texts } }: { benchmark: Benchmark }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable with the keyboard
    <section className="table-place" tabIndex={0} aria-label={t("benchmarks-table")}>
      <table className="table numbers" data-testid="benchmark-table">
        <thead>
          <tr>
            <th scope="col">{t("benchmarks-table.guesses")}</th>
            <th scope="col">{t("benchmarks-table.speed")}</th>
            <th scope="col">{t("benchmarks-table.gain")}</th>
            <th scope="col">{t("benchmarks-table.pass")}</th>
            <th scope="col" className="by-position">
              {t("benchmarks-table.accepted")}
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
          {textWords(kind).name}
        </th>
      </tr>
      {depths.map((depth) => (
        <Row key={depth.depth} name={wayName(depth.depth)} plain={depth.depth === 0} speed={depth} />
      ))}
      {auto && <Row name={draftingName({ mode: "auto" })} speed={auto} />}
      {dflash.map((depth) => (
        <Row key={`dflash ${depth.depth}`} name={`DFlash ${depth.depth}`} speed={depth} />
      ))}
      {lookup && <Row name={draftingName({ mode: "lookup" })} speed={lookup} />}
    </tbody>
  );
}

interface RowProps {
  name: string;
  /** Whether it is plain decoding, against which the others are measured. */
  plain?: boolean;
  speed: DepthSpeed | AutoSpeed;
}

/** A line of the table. */
function Row({ name, plain = false, speed }: RowProps) {
  return (
    <tr>
      <th scope="row">{name}</th>
      <td>{spread(speed.tokens_per_second, rate)}</td>
      <td>{speed.speed_up === null || plain ? "–" : spread(speed.speed_up, gain)}</td>
      <td>{perPass(speed.tokens_per_pass.median)}</td>
      <td className="by-position">{"positions" in speed ? acceptanceLabel(speed.positions) : "–"}</td>
    </tr>
  );
}
