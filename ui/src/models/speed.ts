import { waysHere } from "../benchmarks/gains";
import { isPlain, type Way } from "../benchmarks/verdict";
import type {
  BenchmarkHistory,
  ExpectedSpeed,
  LocalModel,
  RemoteModel,
  SpeedRange,
  Spread,
  Tuning,
} from "../bridge/bindings";
import { t } from "../language/text";
import { rate } from "../primitives/format";

/** How fast a model writes, in tokens per second. */
export interface Speed {
  /** Whether it was measured on this machine; otherwise it is expected. */
  measured: boolean;
  plain: Spread;
  /** With guesses, of the way that was fastest or of those that are known; null where there are none. */
  guessing: Spread | null;
}

const only = (value: number): Spread => ({ min: value, median: value, max: value });

const between = ({ low, high }: SpeedRange): Spread => ({ min: low, median: (low + high) / 2, max: high });

/** What a benchmark found: plain decoding, and the fastest way to guess. */
function ofWays(ways: readonly Way[]): Speed | null {
  const plain = ways.find(isPlain)?.tokensPerSecond;
  if (plain === undefined) return null;
  const guessing = ways
    .filter((way) => !isPlain(way))
    .map(({ tokensPerSecond }) => tokensPerSecond)
    .reduce<Spread | null>((best, one) => (best === null || one.median > best.median ? one : best), null);
  return { measured: true, plain: only(plain.median), guessing };
}

/** What was found after a download; of each number of guesses it tells the middle alone. */
function ofTuning({ tokens_per_second: [plain, ...guessing] }: Tuning): Speed | null {
  if (plain === undefined) return null;
  const best = guessing.length === 0 ? null : only(Math.max(...guessing));
  return { measured: true, plain: only(plain), guessing: best };
}

const ofExpected = ({ plain, guessing }: ExpectedSpeed): Speed => ({
  measured: false,
  plain: between(plain),
  guessing: guessing && between(guessing),
});

/** How fast a model is that is here: as it was measured last, or else as it is expected to be. */
export function localSpeed(model: LocalModel, history: BenchmarkHistory | null): Speed | null {
  if (model.state.state !== "ready") return null;
  const { name, format, tuning, expected } = model;
  return (
    ofWays(waysHere(history, name, format ?? "")) ??
    (tuning && ofTuning(tuning)) ??
    (expected && ofExpected(expected))
  );
}

/** How fast a model of the Hub is expected to be. */
export const remoteSpeed = ({ expected }: RemoteModel): Speed | null => expected && ofExpected(expected);

/** The highest number of a speed. */
export const highest = ({ plain, guessing }: Speed): number => Math.max(plain.max, guessing?.max ?? 0);

/** The end of the axis that all of some speeds stand on; it begins at 0. */
export const axisEnd = (speeds: readonly (Speed | null)[]): number =>
  Math.max(0, ...speeds.map((speed) => (speed ? highest(speed) : 0)));

/** Where a speed stands on an axis from 0 to `end`, from 0 to 1. */
export interface Marks {
  plain: number;
  guessing: { from: number; to: number } | null;
}

/** The places of what the words of a speed tell. */
export const marks = ({ plain, guessing }: Speed, end: number): Marks => ({
  plain: plain.median / end,
  guessing: guessing && { from: guessing.min / end, to: guessing.max / end },
});

/** `53–66`, or one number where both are the same. */
function range({ min, max }: Spread): string {
  const [low, high] = [rate(min), rate(max)];
  return low === high ? low : `${low}–${high}`;
}

/** The same for whoever hears it. */
function spokenRange({ min, max }: Spread): string {
  const [low, high] = [rate(min), rate(max)];
  return low === high ? low : t("model-speed-range", { low, high });
}

/** `31 plain, 53–66 guessing` */
export const bothSpeeds = ({ plain, guessing }: Speed): string =>
  guessing
    ? t("model-speed-both", { plain: range(plain), guessing: range(guessing) })
    : t("model-speed-plain", { plain: range(plain) });

/** The speed that counts, in a few words: `Expected speed 48–60 tok/s`. */
export const speedLine = ({ measured, plain, guessing }: Speed): string =>
  t(measured ? "model-speed-measured" : "model-speed-expected", { speed: range(guessing ?? plain) });

/** `31 plain, 53–66 guessing`; of what is expected the number that counts, as `about 118–136 guessing`. */
export function speedWords(speed: Speed): string {
  const { measured, plain, guessing } = speed;
  if (measured) return bothSpeeds(speed);
  return guessing
    ? t("model-speed-about-guessing", { guessing: range(guessing) })
    : t("model-speed-about-plain", { plain: range(plain) });
}

/** The same as a sentence, for whoever hears it. */
export function speedSentence({ measured, plain: without, guessing: ahead }: Speed): string {
  const plain = spokenRange(without);
  if (ahead === null)
    return t(measured ? "model-speed-measured.spoken-plain" : "model-speed-expected.spoken-plain", { plain });
  return t(measured ? "model-speed-measured.spoken" : "model-speed-expected.spoken", {
    plain,
    guessing: spokenRange(ahead),
  });
}
