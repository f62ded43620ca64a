import type { Evidence, EvidenceText, Fit, LocalModel, MatrixBits, QualityOffer } from "../bridge/bindings";
import { locale, t } from "../language/text";
import { bytes, commas, percent, perPass, rate } from "../primitives/format";
import { convertedBytes, line } from "./labels";

/** How close to the original, by name, from the farthest: KL divergence in nats a token at most. */
export const CLOSENESS = [
  { key: "small", kl: 0.1 },
  { key: "balanced", kl: 0.03 },
  { key: "close", kl: 0.006 },
] as const;

/** What being so close is called. */
export function closenessLabel(key: (typeof CLOSENESS)[number]["key"]): string {
  switch (key) {
    case "small":
      return t("model-closeness-small");
    case "balanced":
      return t("model-closeness-balanced");
    case "close":
      return t("model-closeness-close");
  }
}

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
      names: CLOSENESS.filter(({ key }) => offer[key].bytes === bytes).map(({ key }) => closenessLabel(key)),
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

/** How close a size is to the original: only what was measured is told in numbers. */
export const closenessWords = ({ model }: Stop): string =>
  model?.evidence
    ? t("model-measured-closeness", {
        differing: Math.round(100 * (1 - model.evidence.same_choice)),
        kl: kl(model.evidence.kl),
      })
    : t("model-expected-closeness");

/** What a size leaves of the memory that models can have; null where that is not known. */
export function memoryWords(fit: Fit | null, originalBytes: number, stop: Stop): string | null {
  if (fit === null) return null;
  const need = Math.max(stop.bytes, fit.need_bytes - originalBytes + stop.bytes);
  const left = fit.available_bytes - need;
  return left >= 0
    ? t("model-memory-left", { left: bytes(left), available: bytes(fit.available_bytes) })
    : t("model-memory-missing", { missing: bytes(-left) });
}

/** How fast it is expected to be beside 4-bit, by the bytes that each token reads; null where nothing tells. */
export function speedWordsOf(parameters: number | null, stop: Stop): string | null {
  if (parameters === null || stop.bytes === 0) return null;
  return t("model-speed-beside-4-bit", { factor: perPass(convertedBytes(parameters, 4) / stop.bytes) });
}

/** `2.3 GB, 4.3 bits per weight` */
export const sizeWords = ({ bytes: size, bits }: Stop): string =>
  t("model-size", { size: bytes(size), bits: rate(bits) });

/** What the slider says of itself to whoever hears it. */
export const valueText = (stop: Stop): string =>
  [...stop.names, sizeWords(stop), closenessWords(stop)].reduce((before, next) =>
    t("model-then-said", { before, next }),
  );

const numbers = (shown: Intl.NumberFormatOptions) =>
  new Intl.NumberFormat(locale(), { useGrouping: false, ...shown });

/** A number of nats, as short as it tells something. */
export const kl = (value: number): string =>
  value < 1e-6
    ? t("model-kl-least")
    : numbers({ minimumSignificantDigits: 2, maximumSignificantDigits: 2 }).format(value);

const hundredths = (value: number): string =>
  numbers({ minimumFractionDigits: 2, maximumFractionDigits: 2 }).format(value);

/** How long something takes, roughly: `about 40 minutes`. */
export function aboutTime(seconds: number): string {
  const minutes = Math.round(seconds / 60);
  if (minutes < 60) return t("model-about-minutes", { minutes });
  return t("model-about-hours", { hours: Math.round(seconds / 1800) / 2 });
}

/** Which text is read. */
export const textName = (path: string | null): string =>
  path === null ? t("model-text-own") : (path.split(/[/\\]/).at(-1) ?? path);

/** How close a model is, in a sentence. */
export function evidenceSentence({ same_choice: same, tokens }: Evidence): string {
  const times = Math.floor(1000 * same) / 10;
  const often = same >= 0.995 && same < 1 ? times : Math.round(100 * same);
  return t("model-evidence", { often, tokens });
}

/** The ends of the scale that closeness is drawn on, in nats: from the farthest. */
const SCALE = { from: 0.5, to: 0.001 };

/** Where a KL divergence lies on the scale, which is logarithmic, from 0 (far) to 1 (close). */
export function placeOf(nats: number): number {
  const share = Math.log(SCALE.from / Math.max(nats, 1e-12)) / Math.log(SCALE.from / SCALE.to);
  return Math.min(1, Math.max(0, share));
}

/** What a divergence counts as: the closest name that it reaches; null where it reaches none. */
export function closenessName(nats: number): string | null {
  const reached = CLOSENESS.findLast((one) => nats <= one.kl);
  return reached ? closenessLabel(reached.key) : null;
}

function textLabel(text: EvidenceText): string {
  switch (text) {
    case "built_in":
      return t("model-text-own");
    case "replies":
      return t("model-text-replies");
    case "file":
      return t("model-text-file");
  }
}

const matrixWords = ({ bits, count: matrices }: MatrixBits): string =>
  bits === null ? t("model-matrices-whole", { matrices }) : t("model-matrices-bits", { matrices, bits });

/** The table of a measurement: a name and words for each line that there is. */
export function evidenceTable(evidence: Evidence): [string, string][] {
  const { before, after } = evidence;
  const pair = (now: number | null, then: number | null, show: (value: number) => string) =>
    now === null ? null : line(show(now), then !== null && t("model-figure-original", { value: show(then) }));
  const error = evidence.kl_error === null ? "" : ` ± ${kl(evidence.kl_error)}`;
  const { bits_per_weight: bits, matrices } = evidence;
  const rows: [string, string | null][] = [
    [t("model-figure-kl"), t("model-figure-kl.words", { kl: `${kl(evidence.kl)}${error}` })],
    [t("model-figure-p99"), t("model-figure-p99.words", { kl: kl(evidence.kl_p99) })],
    [t("model-figure-perplexity"), pair(after.perplexity, before.perplexity, hundredths)],
    [t("model-figure-drafts"), pair(after.drafts_accepted, before.drafts_accepted, percent)],
    [
      t("model-figure-text"),
      line(textLabel(evidence.text), t("model-figure-text.tokens", { tokens: evidence.tokens })),
    ],
    [t("model-figure-bits"), bits === null ? null : hundredths(bits)],
    [t("model-figure-matrices"), matrices.length === 0 ? null : commas(matrices.map(matrixWords))],
  ];
  return rows.filter((row): row is [string, string] => row[1] !== null);
}
