import fc from "fast-check";
import { renderToStaticMarkup } from "react-dom/server";
import { describe, expect, it } from "vitest";
import { benchmark, history, speedOf, text } from "../benchmarks/samples";
import { verdict } from "../benchmarks/verdict";
import type { Tuning } from "../bridge/bindings";
import { rate } from "../primitives/format";
import { familyOf } from "./actions";
import { missingLabel, remoteFacts, thenLabel } from "./labels";
import { SpeedLegend, SpeedPicture } from "./SpeedPicture";
import { fitOf, job, local, remote } from "./samples";
import { axisEnd, localSpeed, marks, remoteSpeed, type Speed, speedSentence, speedWords } from "./speed";

const model = local("/Small");
const expected = { plain: { low: 40, high: 60 }, guessing: { low: 70, high: 90 } };
const tuning = (tokens_per_second: number[]): Tuning => ({
  tokens_per_second,
  best_depth: 0,
  kv_precision: "full",
  draft_vocabulary: null,
  strained: false,
  measured_at: 0,
});
const measured = history([benchmark(1)]);
const drawn = (speed: Speed | null, end = 200) =>
  renderToStaticMarkup(<SpeedPicture speed={speed} end={end} />);

/** A number of the first element of a class. */
function numberOf(markup: string, of: string, name: string): number {
  const tag = markup.match(new RegExp(`<[^>]*class="${of}"[^>]*>`))?.[0] ?? "";
  return Number(tag.match(new RegExp(` ${name}="([^"]+)"`))?.[1]);
}

describe("how fast a model is", () => {
  it("comes from its newest benchmark here, by the ranges that the benchmark's screen shows", () => {
    const speed = localSpeed({ ...model, tuning: tuning([9, 9]), expected }, measured);
    const ways = verdict(benchmark(1)).ways;
    const best = ways.find(({ name }) => name === "3 ahead")?.tokensPerSecond;
    expect(speed).toEqual({ measured: true, plain: { min: 49, median: 49, max: 49 }, guessing: best });
    expect(speed && speedWords(speed)).toBe("49 plain, 59–137 guessing");
  });

  it("is that of the measurement after the download until there is one, and what is expected before both", () => {
    const tuned = localSpeed({ ...model, tuning: tuning([31, 44, 52, 50]), expected }, null);
    expect(tuned && [tuned.measured, speedWords(tuned)]).toEqual([true, "31 plain, 52 guessing"]);
    const guessed = localSpeed({ ...model, expected }, null);
    expect(guessed && [guessed.measured, speedWords(guessed)]).toEqual([false, "about 70–90 guessing"]);
    expect(localSpeed(model, null)).toBeNull();
  });

  it("counts nothing that was measured elsewhere, in another format, or of another model", () => {
    const others = [
      benchmark(1, { machine: { chip: "M1", ram_bytes: 8e9 } }),
      benchmark(2, { format: "8-bit" }),
      benchmark(3, { model: "Other" }),
    ];
    expect(localSpeed(model, history(others))).toBeNull();
    expect(localSpeed({ ...model, state: { state: "offline" } }, measured)).toBeNull();
  });

  it("is of plain alone where nothing guesses", () => {
    const plain = localSpeed(model, history([benchmark(1, { texts: [text("prose", [speedOf(0, 44, 1)])] })]));
    expect(plain && speedWords(plain)).toBe("44 plain");
    const headless = remoteSpeed(remote("m", { expected: { ...expected, guessing: null } }));
    expect(headless && speedWords(headless)).toBe("about 40–60 plain");
    expect(remoteSpeed(remote("m"))).toBeNull();
  });

  it("is said in a sentence that tells measured from expected", () => {
    const here = localSpeed(model, measured);
    expect(here && speedSentence(here)).toMatch(
      /^Measured on this \w+: 49 plain, 59 to 137 guessing, in tokens per second\.$/,
    );
    const there = remoteSpeed(remote("m", { expected }));
    expect(there && speedSentence(there)).toMatch(
      /^Expected on this \w+, not measured: 40 to 60 plain, 70 to/,
    );
  });
});

describe("the picture of a speed", () => {
  it("is filled where it was measured, hollow where it is expected, and not there where nothing is known", () => {
    const filled = drawn(localSpeed(model, measured));
    expect(filled).toContain("speed-picture measured");
    expect(filled).not.toContain("expected");
    const hollow = drawn(remoteSpeed(remote("m", { expected })));
    expect(hollow).toContain("speed-picture expected");
    expect(hollow).not.toContain("measured<");
    expect(hollow).not.toContain("picture measured");
    expect(drawn(null)).toBe('<div class="speed"></div>');
    expect(drawn(localSpeed(model, measured), 0)).not.toContain("svg");
  });

  it("has one sentence as its name", () => {
    const speed = localSpeed(model, measured);
    const markup = drawn(speed);
    expect(markup).toContain(`role="img" aria-label="${speed && speedSentence(speed)}"`);
    expect(markup.match(/aria-label/g)).toHaveLength(1);
  });

  it("stands, like its words, on the same numbers", () => {
    const value = fc.double({ min: 0.1, max: 500, noNaN: true });
    const spread = fc.tuple(value, value, value).map((all) => {
      const [min = 0, median = 0, max = 0] = all.toSorted((a, b) => a - b);
      return { min, median, max };
    });
    const speeds = fc.record({
      measured: fc.boolean(),
      plain: spread,
      guessing: fc.option(spread),
    });
    fc.assert(
      fc.property(fc.array(speeds, { minLength: 1, maxLength: 5 }), (all) => {
        const end = axisEnd(all);
        for (const speed of all) {
          const { plain, guessing } = marks(speed, end);
          expect(plain * end).toBeCloseTo(speed.plain.median, 6);
          expect(Math.max(plain, guessing?.to ?? 0)).toBeLessThanOrEqual(1);
          if (speed.guessing === null || guessing === null) {
            expect([guessing, speed.guessing]).toEqual([null, null]);
            continue;
          }
          // What the bar spans is what the words say.
          const words = [guessing.from, guessing.to].map((share) => rate(share * end));
          expect(speedWords(speed)).toContain(words[0] === words[1] ? words[0] : words.join("–"));
          const markup = drawn(speed, end);
          const [x, width] = ["x", "width"].map((name) => numberOf(markup, "speed-guessing", name));
          const middle = 4.5 + ((guessing.from + guessing.to) / 2) * (190 - 9);
          expect((x ?? 0) + (width ?? 0) / 2).toBeCloseTo(middle, 4);
          expect(width).toBeGreaterThanOrEqual((guessing.to - guessing.from) * (190 - 9) - 1.51);
        }
      }),
    );
  });

  it("is in words alone where it lies beyond the axis of the others", () => {
    expect(drawn(localSpeed(model, measured), 60)).toMatch(/59–137 guessing/);
    expect(drawn(localSpeed(model, measured), 60)).not.toContain("svg");
  });

  it("has a key of both kinds", () => {
    expect(renderToStaticMarkup(<SpeedLegend measured />)).toMatch(/plain.*guessing, tok\/s/);
    expect(renderToStaticMarkup(<SpeedLegend measured={false} />)).toContain("expected on this");
  });
});

describe("a line of facts", () => {
  it("says what is good of a recommended model, and what a search has found of others", () => {
    const listed = remote("org/m", { summary: "Small tasks", parameters: 4e9 });
    expect(remoteFacts(listed)).toBe("Small tasks · 8.0 GB, 2.3 GB as 4-bit · fits well");
    const converted = remote("org/m", {
      summary: "Small tasks",
      kind: "converted",
      format: "4-bit, group 64",
    });
    expect(remoteFacts(converted)).toBe("Small tasks · 4-bit · 8.0 GB · fits well");
    expect(remoteFacts(remote("org/m", { mtp: null, fit: null }))).toBe(
      "4.0 billion parameters · bfloat16 · 8.0 GB, 2.3 GB as 4-bit · fit not known · MTP head not known",
    );
    expect(remoteFacts({ ...listed, sight: "sees" })).toContain("Small tasks · sees pictures · 8.0 GB");
    const blind = { ...listed, sight: "no_memory" } as const;
    expect(remoteFacts(blind)).toContain("Small tasks · no memory left to see pictures · ");
    expect(remoteFacts({ ...blind, fit: fitOf("too_big") })).toContain("Small tasks · sees pictures · ");
    expect(missingLabel(fitOf("too_big", 69e9, 64e9))).toMatch(
      /^Needs 69\.0 GB: 5\.0 GB more than this \w+ gives$/,
    );
  });

  it("says what follows", () => {
    const then = (more: Parameters<typeof job>[2], stage = "downloading" as const) =>
      thenLabel(job(1, { stage }, more));
    expect(then({ followed_by: ["conversion", "measurement"] })).toBe("then checked, converted and measured");
    expect(then({ followed_by: [] })).toBe("then checked");
    expect(then({ kind: "conversion", followed_by: ["measurement"] })).toBe("then measured");
    expect(then({ kind: "measurement", followed_by: [] })).toBe("");
    expect(thenLabel(job(1, { stage: "done", path: "/m" }, { followed_by: ["measurement"] }))).toBe("");
  });

  it("names the family that a copy with a head is looked for by", () => {
    expect(familyOf("Qwen3.5-9B-MLX-8bit")).toBe("Qwen3.5-9B");
    expect(familyOf("Qwen3.6-35B-A3B-4bit")).toBe("Qwen3.6-35B-A3B");
    expect(familyOf("mine")).toBe("mine");
  });
});
