import { describe, expect, it } from "vitest";
import { TokenCounts } from "./tokenCounts";

describe("what models make of texts", () => {
  it("is kept for all files of a chat, however many they are", () => {
    const counts = new TokenCounts();
    const files = Array.from({ length: 1000 }, (_, at) => `File ${at}: ${"x".repeat(1000)}`);
    for (const [at, file] of files.entries()) counts.keep("/m", file, at);
    expect(files.map((file) => counts.of("/m", file))).toEqual(files.map((_, at) => at));
  });

  it("is kept for each model", () => {
    const counts = new TokenCounts();
    counts.keep("/a", "owl", 1);
    counts.keep("/b", "owl", 2);
    expect([counts.of("/a", "owl"), counts.of("/b", "owl")]).toEqual([1, 2]);
    expect(counts.of("/c", "owl")).toBeUndefined();
    expect(counts.of(undefined, "owl")).toBeUndefined();
  });

  it("is forgotten for the oldest texts once all are too long together, but never for the newest", () => {
    const counts = new TokenCounts(10);
    const known = () => ["aaaa", "bbbb", "cccc", "d".repeat(11)].map((text) => counts.of("/m", text));
    counts.keep("/m", "aaaa", 1);
    counts.keep("/m", "bbbb", 2);
    counts.keep("/m", "aaaa", 3);
    counts.keep("/m", "cccc", 4);
    expect(known()).toEqual([3, undefined, 4, undefined]);
    counts.keep("/m", "d".repeat(11), 5);
    expect(known()).toEqual([undefined, undefined, undefined, 5]);
    counts.keep("/m", "aaaa", 6);
    expect(known()).toEqual([6, undefined, undefined, undefined]);
  });
});
