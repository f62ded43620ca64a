/** A Thursday in spring, before noon. */
const NOON = Date.UTC(2026, 2, 12, 10, 42);

/** The time in the pictures. It goes on only where a picture says so. */
export const clock = {
  /** Milliseconds since the page was opened. */
  passed: 0,
  /** Milliseconds since 1970. */
  now: (): number => NOON + clock.passed,
};

export const MINUTE = 60_000;
export const DAY = 1440 * MINUTE;

/** A time before the pictures, in milliseconds since 1970. */
export const ago = (milliseconds: number): number => NOON - milliseconds;
