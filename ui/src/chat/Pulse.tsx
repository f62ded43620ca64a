/** The side of a square, and the space from one to the next across and down, in pixels. */
const [SIDE, ACROSS, DOWN] = [4, 6, 5];
/** Squares in a column: the model's own word and the guesses that stood. Of longer blocks the rest is left out. */
const HIGHEST = 4;

interface Props {
  /** How many guesses stood in each of the last passes, the newest last. */
  passes: readonly number[];
  /** Columns there is room for: the newest ones are shown, at the right. */
  columns: number;
}

/** One column for each of the last passes. The numbers beside it say the same in words. */
export function Pulse({ passes, columns }: Props) {
  const shown = passes.slice(-columns);
  const width = columns * ACROSS - (ACROSS - SIDE);
  const height = HIGHEST * DOWN - (DOWN - SIDE);
  const first = columns - shown.length;
  return (
    <svg
      className="pulse"
      viewBox={`0 0 ${width} ${height}`}
      width={width}
      height={height}
      aria-hidden="true"
      data-testid="pulse"
    >
      {shown.map((stood, index) =>
        Array.from({ length: Math.min(stood + 1, HIGHEST) }, (_, place) => (
          <rect
            // biome-ignore lint/suspicious/noArrayIndexKey: a square is its place
            key={`${index} ${place}`}
            className={`word-${Math.min(place, 3)}`}
            x={(first + index) * ACROSS}
            y={(HIGHEST - 1 - place) * DOWN}
            width={SIDE}
            height={SIDE}
            rx="1.2"
          />
        )),
      )}
    </svg>
  );
}
