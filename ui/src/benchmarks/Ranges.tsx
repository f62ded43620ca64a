import type { Spread } from "../bridge/bindings";
import { locale, t } from "../language/text";
import { rate } from "../primitives/format";
import { spread, textWords } from "./labels";
import { isPlain, type TextVerdict, times, type Way } from "./verdict";

/** The axis is marked every so many times. */
const TICK = 0.5;

/** From where to where the gains of some ways lie, with a little room, at least from 0.9 to 1.5. */
export function axisOf(ways: readonly Way[]): { from: number; to: number; ticks: number[] } {
  const from = Math.min(0.9, ...ways.map(({ gain }) => gain.min - 0.05));
  const to = Math.max(1.5, ...ways.map(({ gain }) => gain.max + 0.05));
  const first = Math.ceil(from / TICK);
  const count = Math.floor(to / TICK) - first + 1;
  return { from, to, ticks: Array.from({ length: count }, (_, index) => (first + index) * TICK) };
}

/** Where a gain stands on an axis, in percent. */
export const placeOn =
  ({ from, to }: { from: number; to: number }) =>
  (gain: number): number =>
    (100 * (gain - from)) / (to - from);

/** The best ways that stand one below the other: the row of the first, and how many they are. */
export function runsOf(ways: readonly Way[]): { first: number; rows: number }[] {
  const runs: { first: number; rows: number }[] = [];
  ways.forEach(({ best }, index) => {
    const last = runs.at(-1);
    if (!best) return;
    if (last !== undefined && last.first + last.rows === index) last.rows += 1;
    else runs.push({ first: index, rows: 1 });
  });
  return runs;
}

interface Props {
  /** What was found for one kind of text. */
  text: TextVerdict;
  /** That all texts share. */
  axis: ReturnType<typeof axisOf>;
  /** Said once, of all bars. */
  note?: string;
}

/** How fast each way was, as a bar from its lowest to its highest run on a line at plain decoding's speed. */
export function Ranges({ text: { kind, ways, bracket }, axis, note }: Props) {
  const place = placeOn(axis);
  const runs = bracket === null ? [] : runsOf(ways);
  const { name, words } = textWords(kind);
  return (
    <section className="ranges numbers" data-testid={`ranges-${kind}`} aria-label={name}>
      <header className="ranges-head">
        <h3>{name}</h3>
        <span className="ranges-words">{words}</span>
        <span className="spring" />
        {note !== undefined && <span className="ranges-note">{note}</span>}
      </header>
      <ul>
        {ways.map(({ drafting, name, tokensPerSecond, gain, best }, index) => (
          <li key={name} className={best && bracket !== null ? `range-row best ${bracket}` : "range-row"}>
            <span className="range-name">{name}</span>
            <span
              className="range-place"
              role="img"
              aria-label={t("benchmarks-range", {
                low: times(gain.min),
                high: times(gain.max),
                middle: times(gain.median),
              })}
            >
              <Bar gain={gain} plain={isPlain({ drafting })} best={best} place={place} ticks={axis.ticks} />
            </span>
            <span className="range-numbers">
              {spread(tokensPerSecond, rate)}
              {index === 0 && " tok/s"}
            </span>
            <span className="range-bracket">
              {runs
                .filter(({ first }) => first === index)
                .map(({ rows }) => (
                  <span key={rows} className="range-brace" style={{ height: `${100 * rows}%` }}>
                    {t(bracket === "fastest" ? "benchmarks-bracket.fastest" : "benchmarks-bracket.equal")}
                  </span>
                ))}
            </span>
          </li>
        ))}
      </ul>
      <div className="range-axis" aria-hidden="true">
        <span className="range-place">
          {axis.ticks.map((tick) => (
            <span key={tick} className="range-tick" style={{ left: `${place(tick)}%` }}>
              {`${tick.toLocaleString(locale())}×`}
            </span>
          ))}
        </span>
      </div>
    </section>
  );
}

interface BarProps {
  gain: Spread;
  plain: boolean;
  best: boolean;
  /** Where a gain stands, in percent. */
  place: (gain: number) => number;
  /** Gains that have a line. */
  ticks?: number[];
}

/** A bar from the lowest to the highest run, with the median, and the line at plain decoding's speed. */
export function Bar({ gain, plain, best, place, ticks = [] }: BarProps) {
  const kind = plain || gain.max <= 1 ? "plain" : best ? "best" : "gain";
  return (
    <>
      {ticks
        .filter((tick) => tick !== 1)
        .map((tick) => (
          <span key={tick} className="range-line" style={{ left: `${place(tick)}%` }} />
        ))}
      <span className="range-one" style={{ left: `${place(1)}%` }} />
      <span
        className={`range-bar ${kind}`}
        style={{
          left: `${(place(gain.min) + place(gain.max)) / 2}%`,
          width: `${place(gain.max) - place(gain.min)}%`,
        }}
      />
      <span className={`range-median ${kind}`} style={{ left: `${place(gain.median)}%` }} />
    </>
  );
}
