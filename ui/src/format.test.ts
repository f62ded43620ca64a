import { describe, expect, it } from "vitest";
import type { ModelInfo, MtpState, ReplyStats } from "./bindings";
import { parse } from "./components/NumberField";
import { bytes, dayOf, finalSpeedLine, mtpChip, seconds, speedLine, speedSentence } from "./format";
import { useStore } from "./store";

const stats: ReplyStats = {
  prompt_tokens: 10,
  cached_tokens: 0,
  emitted: 742,
  steps: 412,
  tokens_per_pass: 1.8,
  tokens_per_second: 58.3,
  prefill_seconds: 0.1,
  decode_seconds: 12,
  time_to_first_token_seconds: 0.2,
  draft_seconds: 1,
  verify_seconds: 9,
  host_seconds: 1,
  peak_memory_bytes: 1,
  positions: [
    { drafted: 412, accepted: 330 },
    { drafted: 100, accepted: 50 },
  ],
  seed: 1,
  drafting_note: null,
};

describe("numbers as people read them", () => {
  it("says speed, tokens per pass and the share of right guesses", () => {
    expect(speedLine({ tokens_per_second: 58.3, tokens_per_pass: 1.81, acceptance: 0.808 })).toBe(
      "58 tok/s · 1.8 per pass · 81 %",
    );
    expect(speedLine({ tokens_per_second: 8.42, tokens_per_pass: 1, acceptance: null })).toBe(
      "8.4 tok/s · 1.0 per pass · no drafts",
    );
    expect(finalSpeedLine(stats)).toBe("58 tok/s · 1.8 per pass · 74 %");
    expect(finalSpeedLine({ ...stats, positions: [{ drafted: 0, accepted: 0 }] })).toContain("no drafts");
  });

  it("explains them in a sentence", () => {
    expect(speedSentence(stats)).toContain("74 % of its guesses were right");
    expect(speedSentence({ ...stats, positions: [], tokens_per_pass: 1 })).toContain("No drafts");
    expect(speedSentence({ ...stats, tokens_per_pass: 1.02 })).toContain("almost no passes");
  });

  it.each([
    [0.0421, "42 ms"],
    [0.9961, "1.0 s"],
    [9.96, "10 s"],
    [75.4, "1 min 15 s"],
  ])("%d seconds are %s", (value, words) => expect(seconds(value)).toBe(words));

  it.each([
    [3_300_000, "3.3 MB"],
    [48_300_000, "48 MB"],
    [9_200_000_000, "9.2 GB"],
    [99_940_000_000, "99.9 GB"],
    [212_400_000_000, "212 GB"],
    [1_840_000_000_000, "1.8 TB"],
  ])("%d bytes are %s", (value, words) => expect(bytes(value)).toBe(words));

  it("names days", () => {
    const now = new Date(2026, 10, 21, 9).getTime();
    const at = (...date: [number, number, number, number?]) => dayOf(new Date(...date).getTime(), now);
    expect(at(2026, 10, 21, 1)).toBe("Today");
    expect(at(2026, 10, 20, 1)).toBe("Yesterday");
    expect(at(2026, 10, 16, 1)).toBe("Last seven days");
    expect(at(2026, 8, 1)).toBe("September");
    expect(at(2025, 8, 1)).toBe("September 2025");
  });
});

describe("numbers as people write them", () => {
  const limits = { min: 0, max: 5 };
  it.each([
    ["0.7", { value: 0.7 }],
    [" 0,7 ", { value: 0.7 }],
    [".5", { value: 0.5 }],
    ["", { problem: "A number is needed." }],
    ["0.7x", { problem: "“0.7x” is not a number." }],
    ["1e3", { problem: "“1e3” is not a number." }],
    ["-1", { problem: "At least 0." }],
    ["6", { problem: "At most 5." }],
  ])("%j", (text, result) => expect(parse(text, limits)).toEqual(result));

  it("takes an empty field where that means something, and whole numbers only where asked", () => {
    expect(parse("", { ...limits, empty: "new each time" })).toEqual({ value: null });
    expect(parse("1.5", { ...limits, whole: true })).toEqual({ problem: "Whole numbers only." });
  });
});

describe("the MTP control", () => {
  const NOTE =
    "Drafts do not pay here: a pass that checks 2 takes 2.4 times as long as one without, and yields 1.9 tokens.";
  const model = (mtp: MtpState): ModelInfo => ({
    name: "demo",
    path: "/demo",
    architecture: "qwen3_5",
    parameters: 1,
    format: "bfloat16",
    mtp,
    context_length: 1,
    defaults: useStore.getInitialState().settings.sampling,
    thinking: true,
    weight_bytes: 1,
    kv_precision: "full",
    notes: [],
  });
  const withHead = model({ state: "present", tensors: 15, format: "bfloat16", declared: true });
  const said = (...of: Parameters<typeof mtpChip>) => {
    const { setting, words } = mtpChip(...of);
    return words ? `${setting} · ${words}` : setting;
  };

  it("names the setting alone while drafts help, or before that is known", () => {
    expect(said({ mode: "auto" }, withHead, null)).toBe("Auto");
    expect(said({ mode: "fixed", depth: 2 }, null, null)).toBe("2");
    expect(said({ mode: "auto" }, withHead, "Drafts were held back near the end of the context.")).toBe(
      "Auto",
    );
  });

  it("says that drafts do not pay, and why in full, unless they are off", () => {
    expect(said({ mode: "auto" }, withHead, NOTE)).toBe("Auto · not paying here");
    expect(said({ mode: "fixed", depth: 3 }, withHead, NOTE)).toBe("3 · not paying here");
    expect(mtpChip({ mode: "auto" }, withHead, NOTE)).toMatchObject({ why: NOTE, usable: true });
    expect(said({ mode: "off" }, withHead, NOTE)).toBe("Off");
  });

  it("is off, whatever is set, where the model has no head", () => {
    expect(said({ mode: "auto" }, model({ state: "absent" }), NOTE)).toBe("off · no MTP head");
    expect(said({ mode: "auto" }, model({ state: "stripped" }), null)).toBe("off · head removed");
    expect(said({ mode: "auto" }, model({ state: "unusable" }), null)).toBe("off · head unusable");
    expect(mtpChip({ mode: "auto" }, model({ state: "absent" }), null).usable).toBe(false);
  });
});
