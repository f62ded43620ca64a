import { describe, expect, it } from "vitest";
import type { ReplyStats } from "./bindings";
import { parse } from "./components/NumberField";
import { bytes, dayOf, finalSpeedLine, seconds, speedLine, speedSentence } from "./format";

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
