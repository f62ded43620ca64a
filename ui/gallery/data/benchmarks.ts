import { comparison, history, reply } from "../../src/benchmarks/samples";
import type { Benchmark, Comparison, DepthSpeed, Spread, TextSpeed } from "../../src/bridge/bindings";
import { ago, DAY } from "../clock";
import { STARTER_REPLY, STATS } from "./chats";

const MACHINE = { chip: "Apple M4 Max", ram_bytes: 64 * 2 ** 30 };

const spread = (min: number, median: number, max: number): Spread => ({ min, median, max });

/** A way to decode: lowest, median and highest speed against plain, and how often guesses are right by place. */
const way = (
  plain: number,
  depth: number,
  [low, at, high]: [number, number, number],
  shares: number[],
): DepthSpeed => ({
  depth,
  tokens_per_second: spread(plain * low, plain * at, plain * high),
  speed_up: depth === 0 ? null : spread(low, at, high),
  tokens_per_pass: spread(1 + depth * 0.5, 1 + depth * 0.55, 1 + depth * 0.6),
  positions: shares.map((share) => ({ drafted: 200, accepted: Math.round(200 * share) })),
});

const text = (
  kind: TextSpeed["kind"],
  plain: number,
  [one, two, three]: [[number, number, number], [number, number, number], [number, number, number]],
  dflash: [number, number, number],
  auto: [number, number, number],
): TextSpeed => ({
  kind,
  depths: [
    way(plain, 0, [0.97, 1, 1.03], []),
    way(plain, 1, one, [0.92]),
    way(plain, 2, two, [0.92, 0.76]),
    way(plain, 3, three, [0.92, 0.76, 0.58]),
  ],
  dflash: [way(plain, 7, dflash, [0.86, 0.71, 0.6, 0.5, 0.41, 0.33, 0.28])],
  auto: {
    tokens_per_second: spread(plain * auto[0], plain * auto[1], plain * auto[2]),
    speed_up: spread(...auto),
    tokens_per_pass: spread(2.2, 2.4, 2.5),
    note: null,
  },
  lookup: {
    tokens_per_second: spread(plain * 0.94, plain, plain * 1.06),
    speed_up: spread(0.94, 1, 1.06),
    tokens_per_pass: spread(1, 1.02, 1.1),
    note: null,
  },
});

/** A thorough measurement of the model that answers in most of the pictures. */
export const MEASURED: Benchmark = {
  measured_at: ago(3 * DAY),
  model: "Qwen3.6 27B",
  format: "4-bit",
  kv_precision: "full",
  app_version: "0.1.0",
  machine: MACHINE,
  device: "metal",
  strained: false,
  plan: { texts: "both", drafts: true, prompt: true, thorough: true },
  runs: 5,
  gen_tokens: 128,
  prompt_tokens: 4096,
  texts: [
    text(
      "prose",
      31,
      [
        [1.4, 1.47, 1.52],
        [1.7, 1.82, 1.9],
        [1.62, 1.76, 1.88],
      ],
      [1.35, 1.5, 1.62],
      [1.7, 1.81, 1.88],
    ),
    text(
      "code",
      31,
      [
        [1.55, 1.6, 1.66],
        [1.85, 1.93, 2.0],
        [1.95, 2.06, 2.15],
      ],
      [2.45, 2.63, 2.82],
      [1.94, 2.04, 2.14],
    ),
  ],
  prefill_tokens_per_second: spread(1800, 1840, 1870),
  peak_memory_bytes: spread(18.1e9, 18.2e9, 18.3e9),
  load_seconds: spread(2.1, 2.3, 2.6),
};

const before = (days: number, factor: number): Benchmark => ({
  ...MEASURED,
  measured_at: ago(days * DAY),
  texts: MEASURED.texts.map((one) => ({
    ...one,
    depths: one.depths.map((way) => ({
      ...way,
      tokens_per_second: spread(
        way.tokens_per_second.min * factor,
        way.tokens_per_second.median * factor,
        way.tokens_per_second.max * factor,
      ),
    })),
  })),
});

export const HISTORY = { ...history([before(40, 0.91), before(17, 0.96), MEASURED]), machine: MACHINE };

const words = STARTER_REPLY.match(/\s*\S+/g)?.slice(0, 90) ?? [];

/** One question, answered plain and with guesses. */
export const SIDE_BY_SIDE: Comparison = comparison({
  question: "Why does bread rise more slowly in a cold kitchen?",
  model: "Qwen3.6 27B",
  plain: {
    ...reply(words, 32),
    stats: {
      ...STATS,
      tokens_per_second: 31,
      tokens_per_pass: 1,
      positions: [],
      plain: null,
    },
  },
  drafted: {
    ...reply(words, 17),
    stats: { ...STATS, tokens_per_second: 59 },
    tokens: words.map((text, index) => ({
      at: index * 17,
      text,
      part: "answer",
      draft_position: index % 3 || null,
    })),
  },
});
