import type {
  AutoSpeed,
  Benchmark,
  BenchmarkHistory,
  ComparedReply,
  Comparison,
  DepthSpeed,
  TextKind,
  TextSpeed,
} from "../bridge/bindings";
import { replyStats } from "../chat/samples";

// What the tests of this folder are about, each with what does not matter filled in.

const around = (median: number) => ({ median, min: median * 0.9, max: median * 1.1 });

export const speedOf = (depth: number, plain: number, speedUp: number): DepthSpeed => ({
  depth,
  tokens_per_second: around(plain * speedUp),
  speed_up: { median: speedUp, min: speedUp - 0.01, max: speedUp + 0.01 },
  tokens_per_pass: { median: 1 + depth / 2, min: 1, max: 1 + depth },
  positions: Array.from({ length: depth }, (_, place) => ({ drafted: 100, accepted: 80 - 20 * place })),
});

/** A way that guesses as far as it pays, at so many tokens per second. */
export const autoOf = (speed: number): AutoSpeed => ({
  tokens_per_second: around(speed),
  speed_up: { median: speed / 50, min: speed / 50, max: speed / 50 },
  tokens_per_pass: { median: 1.3, min: 1, max: 2 },
  note: null,
});

export const text = (kind: TextKind, depths: DepthSpeed[], more: Partial<TextSpeed> = {}): TextSpeed => ({
  kind,
  depths,
  dflash: [],
  auto: null,
  lookup: null,
  ...more,
});

export const benchmark = (measured_at: number, more: Partial<Benchmark> = {}): Benchmark => ({
  measured_at,
  model: "Small",
  format: "4-bit",
  kv_precision: "full",
  app_version: "1.0.0",
  machine: { chip: "M4", ram_bytes: 16e9 },
  device: "metal",
  strained: false,
  plan: { texts: "both", drafts: true, prompt: true, thorough: false },
  runs: 3,
  gen_tokens: 60,
  prompt_tokens: 512,
  texts: [
    text("prose", [speedOf(0, 50, 1), speedOf(1, 50, 1.2), speedOf(2, 50, 1.4), speedOf(3, 50, 1.3)]),
    text("code", [speedOf(0, 48, 1), speedOf(1, 48, 1.5), speedOf(2, 48, 2), speedOf(3, 48, 2.6)]),
  ],
  prefill_tokens_per_second: around(1200),
  peak_memory_bytes: around(2e9),
  load_seconds: around(1),
  ...more,
});

export const history = (benchmarks: Benchmark[], unreadable = 0): BenchmarkHistory => ({
  benchmarks,
  machine: { chip: "M4", ram_bytes: 16e9 },
  unreadable,
});

export const reply = (words: string[], pace: number): ComparedReply => ({
  tokens: words.map((text, index) => ({ at: index * pace, text, part: "answer", draft_position: null })),
  reason: "stop",
  stats: replyStats({
    tokens_per_second: 1000 / pace,
    tokens_per_pass: 1,
    positions: [],
    drafting_note: null,
  }),
});

export const comparison = (more: Partial<Comparison> = {}): Comparison => ({
  question: "Why?",
  model: "Small",
  sampling: {
    temperature: 0,
    top_p: 1,
    top_k: 0,
    min_p: 0,
    xtc_probability: 0,
    xtc_threshold: 0.1,
    repetition_penalty: 1,
    presence_penalty: 0,
    frequency_penalty: 0,
    acceptance: "coupled",
    seed: 7,
  },
  drafting: { mode: "auto" },
  plain: reply(["Be", "cause", "."], 20),
  drafted: reply(["Be", "cause", "."], 10),
  verdict: { verdict: "equal" },
  ...more,
});
