import type { Evidence, EvidenceText, Fit, LocalModel, MatrixBits, QualityOffer } from "../bridge/bindings";
import { bytes, count, percent, rate, times } from "../primitives/format";
import { HERE } from "../primitives/platform";
import { convertedBytes, line } from "./labels";

/** How close to the original, by name, from the farthest: KL divergence in nats a token at most. */
export const CLOSENESS = [
  { key: "small", name: "Small", kl: 0.1 },
  { key: "balanced", name: "Balanced", kl: 0.03 },
  { key: "close", name: "Close to original", kl: 0.006 },
] as const;

/** A size that can be chosen. */
export interface Stop {
  bytes: number;
  bits: number;
  /** What it is called; most have no name. */
  names: string[];
  /** The model of this size that is here, of which it was measured how close it is. */
  model: LocalModel | null;
}

/** The sizes that a model can be converted to, from the smallest, with those that were made and measured. */
export function stopsOf(offer: QualityOffer, models: LocalModel[], source: string): Stop[] {
  const made = models.filter(({ original, evidence }) => original === source && evidence?.bytes != null);
  const points = offer.points.map(
    ({ bytes, bits_per_weight: bits }): Stop => ({
      bytes,
      bits,
      names: CLOSENESS.filter(({ key }) => offer[key].bytes === bytes).map(({ name }) => name),
      model: made.find(({ evidence }) => evidence?.bytes === bytes) ?? null,
    }),
  );
  const others = made.flatMap((model): Stop[] => {
    const { bytes, bits_per_weight: bits } = model.evidence ?? {};
    if (bytes == null || bits == null || points.some((point) => point.bytes === bytes)) return [];
    return [{ bytes, bits, names: [], model }];
  });
  return [...points, ...others].toSorted((a, b) => a.bytes - b.bytes);
}

/** Where the slider stands: at what was chosen, or else at the balanced size. */
export function stopAt(stops: Stop[], chosen: number | null, offer: QualityOffer): number {
  const at = stops.findIndex(({ bytes }) => bytes === (chosen ?? offer.balanced.bytes));
  return Math.max(0, at);
}

/** `3 of 100`, of tokens that are not the original's. */
function differing(sameChoice: number): string {
  const differ = 100 * (1 - sameChoice);
  return differ < 0.5 ? "fewer than 1 of 100" : `about ${Math.round(differ)} of 100`;
}

/** How close a size is to the original: only what was measured is told in numbers. */
export const closenessWords = ({ model }: Stop): string =>
  model?.evidence
    ? `Measured: differs from the original in ${differing(model.evidence.same_choice)} words (KL divergence ${kl(model.evidence.kl)})`
    : "Expected, not measured. It is compared with the original once it is made";

/** What a size leaves of the memory that models can have; null where that is not known. */
export function memoryWords(fit: Fit | null, originalBytes: number, stop: Stop): string | null {
  if (fit === null) return null;
  const need = Math.max(stop.bytes, fit.need_bytes - originalBytes + stop.bytes);
  const left = fit.available_bytes - need;
  return left >= 0
    ? `${bytes(left)} left of the ${bytes(fit.available_bytes)} that ${HERE} gives`
    : `Needs ${bytes(-left)} more than ${HERE} gives`;
}

/** How fast it is expected to be beside 4-bit, by the bytes that each token reads; null where nothing tells. */
export function speedWordsOf(parameters: number | null, stop: Stop): string | null {
  if (parameters === null || stop.bytes === 0) return null;
  return `About ${times(convertedBytes(parameters, 4) / stop.bytes)} the speed of 4-bit, expected`;
}

/** `2.3 GB, 4.3 bits per weight` */
export const sizeWords = ({ bytes: size, bits }: Stop): string =>
  `${bytes(size)}, ${rate(bits)} bits per weight`;

/** What the slider says of itself to whoever hears it. */
export const valueText = (stop: Stop): string =>
  [...stop.names, sizeWords(stop), closenessWords(stop)].join(". ");

/** A number of nats, as short as it tells something. */
export const kl = (value: number): string => (value < 1e-6 ? "under 0.000001" : value.toPrecision(2));

/** How long something takes, roughly: `about 40 minutes`. */
export function aboutTime(seconds: number): string {
  const minutes = Math.round(seconds / 60);
  if (minutes < 1) return "less than a minute";
  if (minutes < 60) return minutes === 1 ? "about a minute" : `about ${minutes} minutes`;
  const hours = Math.round(seconds / 1800) / 2;
  return hours === 1 ? "about an hour" : `about ${hours} hours`;
}

/** Which text is read. */
export const textName = (path: string | null): string =>
  path === null ? "The program’s own texts" : (path.split(/[/\\]/).at(-1) ?? path);

/** How close a model is, in a sentence. */
export function evidenceSentence({ same_choice: same, tokens }: Evidence): string {
  const times = Math.floor(1000 * same) / 10;
  const often = same >= 0.995 && same < 1 ? times.toFixed(1) : Math.round(100 * same);
  return `Chooses the same next token as the original ${often} of 100 times, measured on ${count(tokens)} tokens that took no part in choosing.`;
}

/** The ends of the scale that closeness is drawn on, in nats: from the farthest. */
const SCALE = { from: 0.5, to: 0.001 };

/** Where a KL divergence lies on the scale, which is logarithmic, from 0 (far) to 1 (close). */
export function placeOf(nats: number): number {
  const share = Math.log(SCALE.from / Math.max(nats, 1e-12)) / Math.log(SCALE.from / SCALE.to);
  return Math.min(1, Math.max(0, share));
}

/** What a divergence counts as: the closest name that it reaches; null where it reaches none. */
export const closenessName = (nats: number): string | null =>
  CLOSENESS.findLast((one) => nats <= one.kl)?.name ?? null;

const TEXTS: Record<EvidenceText, string> = {
  built_in: "The program’s own texts",
  replies: "The original’s own replies",
  file: "A file of yours",
};

const matrixWords = ({ bits, count: many }: MatrixBits): string =>
  `${count(many)} ${bits === null ? "not quantized" : `in ${bits} bits`}`;

/** The table of a measurement: a name and words for each line that there is. */
export function evidenceTable(evidence: Evidence): [string, string][] {
  const { before, after } = evidence;
  const pair = (now: number | null, then: number | null, show: (value: number) => string) =>
    now === null ? null : line(show(now), then !== null && `original ${show(then)}`);
  const error = evidence.kl_error === null ? "" : ` ± ${kl(evidence.kl_error)}`;
  const rows: [string, string | null][] = [
    ["KL divergence", `${kl(evidence.kl)}${error} nats a token`],
    ["99 of 100 tokens", `below ${kl(evidence.kl_p99)}`],
    ["Perplexity", pair(after.perplexity, before.perplexity, (value) => value.toFixed(2))],
    ["Drafts accepted", pair(after.drafts_accepted, before.drafts_accepted, percent)],
    ["Text", line(TEXTS[evidence.text], `${count(evidence.tokens)} tokens`)],
    ["Bits per weight", evidence.bits_per_weight === null ? null : evidence.bits_per_weight.toFixed(2)],
    ["Matrices", evidence.matrices.length === 0 ? null : evidence.matrices.map(matrixWords).join(", ")],
  ];
  return rows.filter((row): row is [string, string] => row[1] !== null);
}
