import { t } from "../language/text";
import { highest, marks, type Speed, speedSentence, speedWords } from "./speed";

const WIDTH = 190;
const HEIGHT = 20;
const MIDDLE = HEIGHT / 2;
/** Half of the dot for plain, of which all is in the picture at both ends of the axis. */
const DOT = 4.5;
/** A bar is no shorter than it is high. */
const BAR = 9;

interface Props {
  speed: Speed | null;
  /** The end of the axis, in tokens per second. */
  end: number;
  /** What stands below it, where that is not the usual. */
  words?: (speed: Speed) => string;
}

/** How fast a model is: a dot for plain and a bar for guessing. Filled is measured here, hollow is expected. */
export function SpeedPicture({ speed, end, words = speedWords }: Props) {
  if (speed === null || end <= 0) return <div className="speed" />;
  const beyond = highest(speed) > end;
  return (
    <div className="speed" role="img" aria-label={speedSentence(speed)} data-testid="speed">
      {!beyond && <Picture speed={speed} end={end} />}
      <p className="speed-words numbers">{words(speed)}</p>
    </div>
  );
}

function Picture({ speed, end }: { speed: Speed; end: number }) {
  const { plain, guessing } = marks(speed, end);
  const place = (share: number) => DOT + share * (WIDTH - 2 * DOT);
  const bar = guessing && { from: place(guessing.from), to: place(guessing.to) };
  const missing = bar ? Math.max(0, BAR - (bar.to - bar.from)) / 2 : 0;
  // Drawn within its edge, a hollow mark is as large as a filled one.
  const edge = speed.measured ? 0 : 0.75;
  return (
    <svg
      className={speed.measured ? "speed-picture measured" : "speed-picture expected"}
      width={WIDTH}
      height={HEIGHT}
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      aria-hidden="true"
    >
      <line className="speed-axis" x1={0} x2={WIDTH} y1={MIDDLE} y2={MIDDLE} />
      {bar && <line className="speed-gain" x1={place(plain)} x2={bar.from} y1={MIDDLE} y2={MIDDLE} />}
      {bar && (
        <rect
          className="speed-guessing"
          x={bar.from - missing + edge}
          y={MIDDLE - BAR / 2 + edge}
          width={bar.to - bar.from + 2 * (missing - edge)}
          height={BAR - 2 * edge}
          rx={BAR / 2 - edge}
        />
      )}
      <circle className="speed-plain" cx={place(plain)} cy={MIDDLE} r={DOT - edge} />
    </svg>
  );
}

/** What the marks of the pictures below are. */
export function SpeedLegend({ measured }: { measured: boolean }) {
  const edge = measured ? 0 : 0.75;
  return (
    <span className={measured ? "speed-legend measured" : "speed-legend expected"} data-testid="speed-legend">
      <svg width={10} height={10} aria-hidden="true">
        <circle className="speed-plain" cx={5} cy={5} r={DOT - edge} />
      </svg>
      {measured && t("model-legend.plain")}
      <svg width={20} height={10} aria-hidden="true">
        <rect
          className="speed-guessing"
          x={edge}
          y={1 + edge}
          width={20 - 2 * edge}
          height={8 - 2 * edge}
          rx={4 - edge}
        />
      </svg>
      {t(measured ? "model-legend.guessing" : "model-legend.expected")}
    </span>
  );
}
