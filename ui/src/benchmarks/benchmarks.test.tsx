import fc from "fast-check";
import type { ReactElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { afterEach, describe, expect, it } from "vitest";
import type {
  Benchmark,
  BenchmarkPlan,
  DepthSpeed,
  DraftingNote,
  EngineState,
  LocalModel,
  MtpState,
  TextKind,
  TextSpeed,
} from "../bridge/bindings";
import { SidebarProgress } from "../frame/SidebarProgress";
import { Jobs } from "../models/Jobs";
import { endings, steps } from "../models/jobs";
import { job, library, local, modelInfo } from "../models/samples";
import { useStore } from "../state/store";
import { BenchmarksScreen } from "./BenchmarksScreen";
import { expectedSeconds, minutesLabel } from "./expected";
import { gainOf, waysHere } from "./gains";
import { History } from "./History";
import {
  acceptanceLabel,
  chartSentence,
  compareReason,
  plotted,
  progressLabel,
  ratioSentence,
  series,
  spread,
  strange,
  tickLabel,
  verdictSentence,
} from "./labels";
import { Plan } from "./Measure";
import { benchmarksOf, subject, subjects } from "./models";
import { runsOf } from "./Ranges";
import { Result } from "./Result";
import { arrived, duration, said } from "./replay";
import { SideBySide } from "./SideBySide";
import { autoOf, benchmark, comparison, history, reply, speedOf, text } from "./samples";
import { useBenchmarks } from "./store";
import { type TextVerdict, times, verdict, type Way } from "./verdict";

const page = useStore.getInitialState();
const screen = useBenchmarks.getInitialState();
/** Components that are drawn without a document see the first state of the stores. */
const first = { page: { ...page }, screen: { ...screen } };
afterEach(() => {
  Object.assign(page, first.page);
  Object.assign(screen, first.screen);
});

const markup = (element: ReactElement, view: Partial<typeof screen> = {}): string => {
  Object.assign(screen, view);
  return renderToStaticMarkup(element);
};

/** What a person reads of `element`. */
const words = (element: ReactElement, view: Partial<typeof screen> = {}): string =>
  markup(element, view)
    .replace(/<[^>]+>/g, " ")
    .replace(/\s+/g, " ")
    .trim();

const day = (month: number, date: number) => new Date(2026, month - 1, date, 9, 30).getTime();
const HERE = { chip: "M4", ram_bytes: 16e9 };

describe("what a benchmark found", () => {
  /** A speed of so many times plain in the middle, and so far on either side. */
  const between = (depth: number, gain: number, side: number): DepthSpeed => ({
    ...speedOf(depth, 50, gain),
    tokens_per_second: { median: 50 * gain, min: 50 * (gain - side), max: 50 * (gain + side) },
  });
  const plain = between(0, 1, 0.02);
  const prose = (...depths: DepthSpeed[]) => text("prose", [plain, ...depths]);
  const code = (...depths: DepthSpeed[]) => text("code", [plain, ...depths]);
  const found = (...texts: TextSpeed[]) => verdict({ texts });
  const gaining = [between(1, 1.2, 0.05), between(2, 1.6, 0.1)];
  const losing = [between(1, 0.7, 0.1)];
  const uncertain = [between(1, 1.2, 0.3)];

  it("is the fastest way only where its lowest run is above the highest of all others", () => {
    expect(found(text("any", [plain, ...gaining]))).toMatchObject({
      sentence: "Guessing makes it 1.5 to 1.7 times as fast.",
      detail: "2 ahead is fastest.",
      texts: [{ bracket: "fastest" }],
    });
    const depths = [plain, ...gaining, between(3, 1.55, 0.1)];
    const all = found(text("any", depths, { dflash: [between(7, 1.4, 0.1)], lookup: autoOf(50) }));
    expect(all).toMatchObject({
      detail: "2 ahead, 3 ahead and DFlash 7 are equally fast: their ranges overlap.",
      texts: [{ bracket: "equal" }],
    });
    expect(all.texts[0]?.ways.map(({ name, best }) => [name, best])).toEqual([
      ["Plain", false],
      ["1 ahead", false],
      ["2 ahead", true],
      ["3 ahead", true],
      ["DFlash 7", true],
      ["Look-up", false],
    ]);
  });

  it("claims no gain where a run was slower, or plain is as fast", () => {
    const one = (...depths: DepthSpeed[]) => found(text("any", depths));
    expect(one(plain, ...uncertain).sentence).toBe("Guessing gains nothing here that is certain.");
    expect(one(plain, ...losing)).toMatchObject({
      sentence: "Nothing beats plain here.",
      detail: "Plain is fastest.",
    });
    expect(one(plain)).toMatchObject({
      sentence: "Plain decoding writes 50 tokens per second here.",
      detail: "",
    });
    expect(one().sentence).toBe("Plain decoding was not measured.");
    expect(found().sentence).toBe("Nothing was measured.");
  });

  it("is told for prose and for code in one sentence", () => {
    const fast = [between(1, 1.5, 0.1), between(2, 2.6, 0.2)];
    const says = (one: DepthSpeed[], two: DepthSpeed[]) => found(prose(...one), code(...two)).sentence;
    expect(says(gaining, fast)).toBe(
      "Guessing makes it 1.5 to 1.7 times as fast for prose, and up to 2.8 times for code.",
    );
    expect(says(fast, gaining)).toBe(
      "Guessing makes it 2.4 to 2.8 times as fast for prose, and 1.5 to 1.7 times for code.",
    );
    expect(says(gaining, gaining)).toBe("Guessing makes it 1.5 to 1.7 times as fast for prose and for code.");
    expect(says(gaining, uncertain)).toBe(
      "Guessing makes it 1.5 to 1.7 times as fast for prose; for code guessing gains nothing that is certain.",
    );
    expect(says(losing, fast)).toBe(
      "Guessing makes it 2.4 to 2.8 times as fast for code; for prose nothing beats plain.",
    );
    expect(says(losing, uncertain)).toBe(
      "Nothing beats plain here for prose; for code guessing gains nothing that is certain.",
    );
    expect(says(losing, losing)).toBe("Nothing beats plain here for prose and for code.");
    expect(says(uncertain, uncertain)).toBe(
      "Guessing gains nothing here that is certain for prose and for code.",
    );
    expect(says([], [])).toBe("Plain decoding writes 50 tokens per second here for prose and for code.");
    expect(found(prose(), text("code", [speedOf(0, 40, 1)])).sentence).toBe(
      "Plain decoding writes 50 tokens per second here for prose, and 40 for code.",
    );
    expect(found(code(...gaining)).sentence).toBe("Guessing makes it 1.5 to 1.7 times as fast for code.");
  });

  it("says which way is fastest for each, once where it is the same", () => {
    const [one, two] = [prose(...gaining, between(3, 1.55, 0.1)), code(...gaining)];
    expect(found(one, two).detail).toBe(
      "For prose 2 ahead and 3 ahead are equally fast: their ranges overlap. For code 2 ahead is fastest.",
    );
    expect(found(prose(...gaining), two).detail).toBe("For prose and for code 2 ahead is fastest.");
    expect(found(prose(), code()).detail).toBe("");
  });

  it("has one range over all texts for each way", () => {
    const { ways } = found(prose(between(1, 1.2, 0.1)), code(between(1, 2, 0.2), between(2, 3, 0.1)));
    expect(ways.map(({ name, best }) => [name, best])).toEqual([
      ["Plain", false],
      ["1 ahead", false],
      ["2 ahead", true],
    ]);
    expect(ways[1]?.gain.min).toBeCloseTo(1.1);
    expect(ways[1]?.gain.median).toBeCloseTo(1.6);
    expect(ways[1]?.gain.max).toBeCloseTo(2.2);
  });

  // In hundredths: doubles would nearly all be tiny sides, which overlap nothing.
  const measured = fc.array(fc.tuple(fc.integer({ min: 50, max: 300 }), fc.integer({ min: 0, max: 40 })), {
    maxLength: 4,
  });
  const speeds = (ways: [number, number][]) =>
    ways.map(([gain, side], index) => between(index + 1, gain / 100, side / 100));

  it("has sentence, bracket and bars that never disagree, for one kind of text", () => {
    fc.assert(
      fc.property(measured, fc.constantFrom("prose", "code", "any"), (ways, kind) => {
        const { texts, sentence, detail } = found(text(kind, [plain, ...speeds(ways)]));
        agree(texts[0] as TextVerdict, sentence, detail);
      }),
    );
  });

  it("has sentence, brackets and bars that never disagree, for prose and for code", () => {
    fc.assert(
      fc.property(measured, measured, (one, two) => {
        const { texts, sentence, detail } = found(prose(...speeds(one)), code(...speeds(two)));
        for (const text of texts) {
          const own = told(sentence, text.kind);
          agree(text, own, told(detail, text.kind));
          // Whoever reads "up to" knows the highest; of both the sentence is about the same bars.
          const numbers = own.match(/[\d.]+(?= times| to )/g)?.map(Number) ?? [];
          if (text.outcome === "gains") expect(numbers.at(-1)).toBe(Number(times(text.top?.gain.max ?? 0)));
        }
      }),
    );
  });

  /** What a sentence says of a kind of text, with the words that it shares with the other one. */
  function told(sentence: string, kind: TextKind): string {
    const other = kind === "prose" ? "code" : "prose";
    if (/for prose and for code/i.test(sentence)) return sentence;
    const parts = sentence.split(/(?<=[.;]) |, and (?=up to|[\d.])/);
    const own = parts.filter((part) => new RegExp(`for ${kind}`, "i").test(part)).join(" ");
    expect(own).not.toMatch(new RegExp(`for ${other}`, "i"));
    return /^(up to )?[\d.]+/.test(own) ? `${sentence.split(/[\d]/)[0]}${own}` : own;
  }

  /** Fails where words and bars of a text differ. */
  function agree({ ways, bracket, top, outcome }: TextVerdict, sentence: string, detail: string) {
    const [best, others] = [true, false].map((wanted) => ways.filter((way) => way.best === wanted));
    if (ways.length === 1) {
      expect([bracket, detail]).toEqual([null, ""]);
      expect(sentence.toLowerCase()).toContain("plain decoding");
      return;
    }
    expect(bracket).toBe(best?.length === 1 ? "fastest" : "equal");
    expect(detail).toContain(bracket === "fastest" ? "is fastest" : "are equally fast");
    for (const { name } of best ?? []) expect(detail).toContain(name);
    for (const { name, gain } of others ?? []) {
      expect(detail).not.toContain(name);
      expect(gain.max).toBeLessThan(top?.gain.min ?? 0);
    }
    const gains = (top?.gain.min ?? 0) > 1 && !best?.some(({ name }) => name === "Plain");
    expect(outcome === "gains").toBe(gains);
    expect(sentence.includes("Guessing makes it")).toBe(gains);
    expect(sentence.toLowerCase().includes("nothing beats plain")).toBe(!gains && top?.name === "Plain");
    expect(sentence.includes("that is certain")).toBe(!gains && top?.name !== "Plain");
  }

  it("puts one bracket around the best that stand together, and none around what is slower", () => {
    const way = (best: boolean) => ({ best }) as Way;
    expect(runsOf([false, true, true, true, false].map(way))).toEqual([{ first: 1, rows: 3 }]);
    expect(runsOf([true, false, true].map(way))).toEqual([
      { first: 0, rows: 1 },
      { first: 2, rows: 1 },
    ]);
    expect(runsOf([])).toEqual([]);
  });

  it("rounds no difference away and shows a spread only where there is one", () => {
    expect([1.04, 1.4, 0.93, 12.3].map(times)).toEqual(["1.04", "1.4", "0.93", "12"]);
    const whole = (value: number) => value.toFixed(0);
    expect(spread({ median: 58, min: 57, max: 60 }, whole)).toBe("58 (57–60)");
    expect(spread({ median: 58, min: 57.9, max: 58.2 }, whole)).toBe("58");
    expect(
      acceptanceLabel([
        { drafted: 10, accepted: 8 },
        { drafted: 0, accepted: 0 },
      ]),
    ).toBe("80 % · –");
    expect(acceptanceLabel([])).toBe("–");
  });

  it("is a table with every figure, and none that was not measured", () => {
    const { preferences } = page;
    const open_folds = { ...preferences.open_folds, figures: true };
    Object.assign(page, { preferences: { ...preferences, open_folds } });
    const shown = words(<Result benchmarks={[benchmark(day(11, 21))]} />, { history: history([]) });
    for (const part of [
      "Guessing makes it 1.3 to 1.5 times as fast for prose, and up to 2.9 times for code.",
      "For prose 1 ahead, 2 ahead and 3 ahead are equally fast: their ranges overlap. For code 3 ahead is fastest.",
      "Prose a story, a letter, an explanation tok/s, lowest to highest of 3 runs Plain 50 (45–55) tok/s",
      "Code a function, a test, a change to a file Plain 48 (43–53) tok/s",
      "Prose Plain 50 (45–55) – 1.0 –",
      "2 ahead 70 (63–77) 1.4× 2.0 80 % · 60 %",
      "Code Plain 48 (43–53) – 1.0 –",
      "Reading a prompt of 512 tokens 1,200 (1,080–1,320) tok/s",
      "Memory at most 2.0 GB (1.8 GB–2.2 GB)",
      "Foretoken 1.0.0 · 4-bit on the GPU of this computer · 3 runs of 60 tokens of each kind of text.",
    ])
      expect(shown).toContain(part);
    expect(shown).not.toContain("at other times it is faster");
    expect(words(<Result benchmarks={[benchmark(0, { strained: true })]} />)).toContain(
      "measured while it was hot or saved energy: at other times it is faster",
    );
    const texts = [text("any", [speedOf(0, 50, 1)])];
    const less = words(<Result benchmarks={[benchmark(0, { texts, prefill_tokens_per_second: null })]} />);
    for (const part of ["Reading", "1 ahead", "DFlash", "Look-up", "prose", "kind of text"])
      expect(less).not.toContain(part);
    const dflash = [speedOf(3, 50, 1.6)];
    const drafted = [text("code", [speedOf(0, 50, 1)], { dflash, lookup: autoOf(60) })];
    const more = words(<Result benchmarks={[benchmark(0, { texts: drafted })]} />);
    expect(more).toContain("DFlash 3 80 (72–88) 1.6× 2.5 80 % · 60 % · 40 % Look-up 60 (54–66) 1.2× 1.3 –");
    expect(markup(<Result benchmarks={[]} />)).toBe("");
  });

  it("heads a result in which texts were not told apart, and draws both on one axis where they were", () => {
    const old = benchmark(0, { texts: [text("any", [speedOf(0, 50, 1), speedOf(1, 50, 1.4)])] });
    const shown = words(<Result benchmarks={[old]} />, { history: history([]) });
    expect(shown).toMatch(/^Guessing makes it 1\.3 to 1\.5 times as fast\. 1 ahead is fastest\./);
    expect(shown).toContain("All text prose and code were not told apart");
    const html = markup(<Result benchmarks={[benchmark(0)]} />, { history: history([]) });
    const [first, second] = html.split('data-testid="ranges-code"');
    const ticks = (part = "") => [...part.matchAll(/class="range-tick" style="left:([^"]+)"/g)].map(String);
    expect(ticks(first).length).toBeGreaterThan(3);
    expect(ticks(second)).toEqual(ticks(first));
  });

  it("says why Auto guessed nothing, once where it is the same for all texts", () => {
    const auto = (note: DraftingNote) => ({ ...autoOf(50), note });
    const noted = (one: DraftingNote, two: DraftingNote | null) =>
      words(
        <Result
          benchmarks={[
            benchmark(0, {
              texts: [
                text("prose", [speedOf(0, 50, 1)], { auto: auto(one) }),
                text("code", [speedOf(0, 50, 1)], { auto: two === null ? autoOf(60) : auto(two) }),
              ],
            }),
          ]}
        />,
        { history: history([]) },
      );
    const none = { kind: "no_head" } as const;
    expect(noted(none, { ...none }).match(/Auto: This model has no MTP head/g)).toHaveLength(1);
    expect(noted(none, null)).toContain("Auto, prose: This model has no MTP head to draft with.");
  });

  it("can be an earlier one", () => {
    const all = [benchmark(1, { app_version: "0.9.0" }), benchmark(2)];
    const shown = words(<Result benchmarks={all} />, { history: history(all), shown: 1 });
    expect(shown).toMatch(/an earlier result.*Show the newest.*Foretoken 0\.9\.0/);
  });
});

describe("what MTP's menu says of each way", () => {
  const depths = [speedOf(0, 50, 1), speedOf(1, 50, 1.2), speedOf(2, 50, 1.4)];
  const dflash = [speedOf(3, 50, 1.1), speedOf(7, 50, 1.6)];
  const measured = benchmark(2, {
    texts: [text("prose", depths, { dflash }), text("code", depths, { dflash, lookup: autoOf(100) })],
  });
  const gains = (...all: Benchmark[]) => waysHere(history(all), "Small", "4-bit");

  it("is what the newest benchmark of this machine and format found", () => {
    const ways = gains(benchmark(1, { texts: [text("prose", [speedOf(0, 50, 1)])] }), measured);
    expect(gainOf({ mode: "fixed", depth: 2 }, ways)?.median).toBeCloseTo(1.4);
    expect(gainOf({ mode: "dflash", depth: null }, ways)?.median).toBeCloseTo(1.6);
    expect(gainOf({ mode: "lookup" }, ways)?.median).toBeCloseTo(2);
    const elsewhere = benchmark(3, { machine: { chip: "M1", ram_bytes: 8 * 2 ** 30 } });
    expect(gains(measured, elsewhere)).toEqual(ways);
  });

  it("is nothing where it was not measured", () => {
    expect(gains(benchmark(1, { format: "8-bit" }))).toEqual([]);
    expect(waysHere(null, "Small", "4-bit")).toEqual([]);
    for (const mode of ["auto", "off"] as const) expect(gainOf({ mode }, gains(measured))).toBeNull();
    expect(gainOf({ mode: "lookup" }, gains(benchmark(1)))).toBeNull();
  });
});

describe("the history", () => {
  const all = [
    benchmark(day(11, 3), { texts: [text("any", [speedOf(0, 50, 1), speedOf(2, 50, 1.4)])] }),
    benchmark(day(11, 9), { machine: { chip: "M1", ram_bytes: 8 * 2 ** 30 } }),
    benchmark(day(11, 15), { format: "8-bit, groups of 64" }),
    benchmark(day(11, 21), {
      texts: [
        text("prose", [speedOf(0, 60, 1), speedOf(2, 60, 1.5)]),
        text("code", [speedOf(0, 58, 1), speedOf(2, 58, 2)]),
      ],
      app_version: "1.1.0",
    }),
  ];
  const model = { key: "/small", name: "Small", local: local("/small") };

  it("marks what cannot be compared, and keeps it out of the chart", () => {
    expect(all.map((one) => strange(one, HERE, "4-bit"))).toEqual([
      null,
      "Another machine: M1, 8 GB",
      "Another format: 8-bit",
      null,
    ]);
    expect(strange(all[2] as never, HERE, null)).toBeNull();
    const shown = words(<History name={model.name} format={model.local.format} benchmarks={all} />, {
      history: history(all),
    });
    expect(shown).toContain(
      "2 benchmarks from 3 November 2026 to 21 November 2026. Plain: from 50 to 60, 2 ahead: from 70 to 90 tokens per second. 2 results of another machine or format are in the table only.",
    );
    expect(shown).toMatch(
      /21 Nov 2026, 09:30 1\.1\.0 60 – 90 –.*Another format: 8-bit.*Another machine: M1, 8 GB/,
    );
  });

  it("keeps benchmarks with 8-bit keys and values apart, and says which are which", () => {
    const mixed = [all[0], benchmark(day(11, 12), { kv_precision: "eight" }), all[3]] as Benchmark[];
    expect(plotted(mixed, null)).toMatchObject({ precision: "full", others: 1 });
    expect(plotted(mixed, "eight").benchmarks).toEqual([mixed[1]]);
    expect(plotted(mixed.slice(0, 2), null).precision).toBe("eight");
    expect(plotted(mixed.slice(0, 1), "eight").precision).toBe("full");
    const view = { history: history(mixed) };
    const shown = (kvPrecision: "full" | "eight" | null) =>
      words(<History name="Small" format="4-bit" benchmarks={mixed} />, { ...view, kvPrecision });
    expect(shown(null)).toContain("Usual memory Smaller memory");
    expect(shown(null)).toContain(
      "2 benchmarks from 3 November 2026 to 21 November 2026. Plain: from 50 to 60, 2 ahead: from 70 to 90 tokens per second. One result with smaller memory for long chats (8-bit) is plotted apart.",
    );
    expect(shown("eight")).toContain(
      "One benchmark with smaller memory for long chats (8-bit) on 12 November 2026.",
    );
    expect(shown("eight")).toContain("2 results with the usual memory are plotted apart.");
    expect(shown(null)).toMatch(/12 Nov 2026, 09:30 Smaller memory \(8-bit\)/);
    expect(words(<Result benchmarks={mixed} />, { ...view, shown: day(11, 12) })).toContain(
      "this computer, with smaller memory for long chats (8-bit) · 3 runs",
    );
    const one = words(<History name="Small" format="4-bit" benchmarks={all} />, { history: history(all) });
    expect(one).not.toContain("memory for long chats");
  });

  it("is told in a sentence for each thing that is plotted", () => {
    const one = [benchmark(day(11, 21))];
    expect(chartSentence("reading", one)).toBe(
      "One benchmark on 21 November 2026. Prompt: 1,200 prompt tokens per second.",
    );
    expect(chartSentence("memory", one)).toBe("One benchmark on 21 November 2026. Memory: 2.0 GB.");
    expect(chartSentence("reading", [benchmark(0, { prefill_tokens_per_second: null })])).toBe(
      "Nothing was measured yet.",
    );
    expect(chartSentence("code", one)).toContain("2 ahead: 96");
    expect(chartSentence("code", all.slice(0, 1))).toBe("Nothing was measured yet.");
    expect(chartSentence("prose", [])).toBe("Nothing was measured yet.");
  });

  it("has a line for what was measured at least once, with gaps", () => {
    const lines = series("prose", [
      benchmark(0, { texts: [text("prose", [speedOf(0, 50, 1)])] }),
      benchmark(1),
    ]);
    expect(lines.map(({ name, values }) => [name, values[0] === null])).toEqual([
      ["Plain", false],
      ["1 ahead", true],
      ["2 ahead", true],
      ["3 ahead", true],
    ]);
    expect(series("reading", [benchmark(0, { prefill_tokens_per_second: null })])).toEqual([]);
  });

  it("names its chart by the sentence and has a table beside it", () => {
    const html = markup(<History name={model.name} format={model.local.format} benchmarks={all} />, {
      history: history(all, 1),
    });
    const caption = html.match(/role="img" aria-labelledby="([^"]+)"/)?.[1];
    expect(html).toContain(`<figcaption id="${caption}"`);
    expect(html).toContain("<table");
    expect(html).toContain("One line of the history cannot be read");
  });

  it("says so where there is none, and brings back what was deleted", () => {
    const empty = words(<History name={model.name} format={model.local.format} benchmarks={[]} />, {
      history: history([]),
      deleted: benchmark(day(11, 21)),
    });
    expect(empty).toBe(
      "What does guessing gain on this computer? Small was not measured yet. The result of Small of 21 Nov 2026, 09:30 was deleted. Undo",
    );
  });

  it("keeps models that are gone", () => {
    const here = library({
      models: [local("/a", { name: "A" }), local("/b", { state: { state: "offline" } })],
    });
    const kept = history([benchmark(1), benchmark(2, { model: "A" })]);
    const known = subjects(here, kept);
    expect(known.map(({ key, local }) => [key, local !== null])).toEqual([
      ["/a", true],
      ["Small", false],
    ]);
    expect(subject(known, null, "/a")?.name).toBe("A");
    expect(subject(known, "Small", "/a")?.name).toBe("Small");
    expect(subject(known, "gone", "gone")?.name).toBe("A");
    expect(subject([], null, "/a")).toBeNull();
    expect(benchmarksOf(kept, "A")).toHaveLength(1);
  });
});

describe("a benchmark that runs", () => {
  it("is a job that can be cancelled without a question and brings no model", () => {
    expect(steps(job(1, { stage: "done", path: "/m" }, { kind: "benchmark" }))).toEqual([]);
    const before = [job(1, { stage: "tuning" }, { kind: "benchmark" })];
    const after = [job(1, { stage: "done", path: "/m" }, { kind: "benchmark" })];
    expect(endings(before, after)).toBe("Model 1 is measured.");
    Object.assign(page, { library: library({ jobs: after }) });
    expect(markup(<Jobs />)).toBe("");
  });

  it("says on its screen that it waits for the chat", () => {
    const held = job(1, { stage: "held", by: { hold: "chat" } }, { kind: "benchmark" });
    Object.assign(page, { library: library({ jobs: [held], models: [local("/small")] }) });
    const shown = words(<BenchmarksScreen />);
    expect(shown).toMatch(/Waiting for the chat.*as soon as no reply is being written/);
  });

  it("goes on in the sidebar beside its own screen", () => {
    const running = job(1, { stage: "tuning" }, { kind: "benchmark", done: 1, total: 4 });
    Object.assign(page, { library: library({ jobs: [running] }) });
    expect(words(<SidebarProgress />)).toBe("Model 1 25 %");
  });

  it("offers every way that the model has", () => {
    const offers = (more: Partial<LocalModel>) => {
      const [shown = null] = subjects(library({ models: [local("/small", more)] }), null);
      return words(<Plan shown={shown} />);
    };
    const mtp = { state: "absent" } as const;
    expect(offers({ mtp })).toContain("Plain decoding against Look-up, and Auto");
    expect(offers({ mtp, draft_model: "/draft" })).toContain("against DFlash, Look-up, and Auto");
    expect(offers({ draft_model: "/draft" })).toContain(
      "against 1, 2 and 3 ahead, DFlash, Look-up, and Auto",
    );
    expect(offers({})).toContain("3 runs of 60 tokens each way, of prose and of code.");
    const plan = { ...screen.plan, texts: "code", thorough: true } as const;
    expect(words(<Plan shown={null} />, { plan })).toContain("5 runs of 144 tokens each way. It");
  });

  it("says about how long it takes where the model was measured before", () => {
    const plan = { texts: "both", drafts: true, prompt: true, thorough: false } as const;
    const [owl, before] = [local("/small"), benchmark(1)];
    const seconds = (more: Partial<BenchmarkPlan>) => expectedSeconds({ ...plan, ...more }, owl, before) ?? 0;
    expect(seconds({ texts: "prose" })).toBeLessThan(seconds({}));
    expect(seconds({ drafts: false })).toBeLessThan(seconds({ texts: "code" }));
    expect(seconds({})).toBeLessThan(seconds({ thorough: true }));
    // Three loads of a second, and some 40 decodings of 60 tokens at 50 to 130 a second.
    expect(seconds({})).toBeGreaterThan(30);
    expect(seconds({})).toBeLessThan(60);
    expect(expectedSeconds(plan, owl, benchmark(1, { texts: [] }))).toBeNull();
    expect([20, 70, 185].map(minutesLabel)).toEqual([
      "less than a minute",
      "about one minute",
      "about 3 minutes",
    ]);
  });
});

describe("side by side", () => {
  it("shows what has come at a time, and all of it at the end", () => {
    const { tokens } = reply(["a", "b", "c"], 10);
    expect([-1, 0, 9, 10, 20, 99].map((at) => arrived(tokens, at))).toEqual([0, 1, 1, 2, 3, 3]);
    expect(duration(comparison())).toBe(40);
    const thought = tokens.map(
      (token, index) => ({ ...token, part: index === 0 ? "thinking" : "answer" }) as const,
    );
    expect(said(thought, 2)).toEqual({ thinking: "a", answer: "b" });
  });

  it("never loses a token on the way, whatever the times are", () => {
    fc.assert(
      fc.property(fc.array(fc.nat(50)), fc.integer({ min: -1, max: 60 }), (steps, at) => {
        const times = [...steps].sort((a, b) => a - b);
        const tokens = times.map((at) => ({ at, text: "x", part: "answer" as const, draft_position: null }));
        expect(arrived(tokens, at)).toBe(times.filter((time) => time <= at).length);
      }),
    );
  });

  it("says what was gained, and whether the texts are equal", () => {
    expect(ratioSentence(comparison())).toBe("With drafts this reply was written 2.0 times as fast.");
    expect(ratioSentence(comparison({ drafted: reply(["a"], 25) }))).toBe(
      "With drafts this reply was slower: 0.8 times the speed of plain.",
    );
    expect(ratioSentence(comparison({ drafted: reply(["a"], 20.1) }))).toContain("no difference");
    const short = reply(["a"], Number.POSITIVE_INFINITY);
    expect(ratioSentence(comparison({ plain: short }))).toContain("too short");
    expect(verdictSentence(comparison())).toBe("Both texts are equal, token for token.");
    expect(verdictSentence(comparison({ verdict: { verdict: "different", after: 17 } }))).toBe(
      "The texts differ after 17 equal tokens. With these settings they must be equal: something is wrong.",
    );
    expect(verdictSentence(comparison({ verdict: { verdict: "rounded", after: 17 } }))).toMatch(
      /^The texts differ after 17 equal tokens, as they may: .*“To the letter”/,
    );
    expect(verdictSentence(comparison({ verdict: { verdict: "same_chances" } }))).toContain(
      "every word is as likely as without drafts",
    );
  });

  it("shows both texts at their end where nothing moves", () => {
    const shown = words(<SideBySide />, { sideBySide: { stage: "done", comparison: comparison() } });
    expect(shown).toMatch(/Without drafts 50 tok\/s.*Because\. 3 of 3 tokens, done after 40 ms/);
    expect(shown).toMatch(/With drafts 100 tok\/s.*Because\. 3 of 3 tokens, done after 20 ms.*Play again/);
    expect(shown).toContain("seed 7 · one measurement each");
  });

  it("says how far it is and why it failed", () => {
    expect(progressLabel(null)).toBe("Beginning");
    expect(progressLabel({ stage: "reading", done: 5, total: 9 })).toBe("Reading the prompt: 5 of 9 tokens");
    expect(progressLabel({ stage: "writing", drafts: true, tokens: 4 })).toBe(
      "Writing with drafts: 4 tokens",
    );
    const error = { code: "engine_busy", message: "The engine is writing.", hint: "Wait." };
    const failed = words(<SideBySide />, { sideBySide: { stage: "failed", question: "Why?", error } });
    expect(failed).toMatch(/Why\? The engine is writing\. Wait\.$/);
    const running = { stage: "running", question: "Why?", progress: null, stopping: false } as const;
    expect(words(<SideBySide />, { sideBySide: running })).toMatch(/Cancel.*Why\? Beginning$/);
  });

  it("is refused with a reason", () => {
    const ready = (mtp: MtpState): EngineState => ({
      state: "ready",
      device: "cpu",
      in_memory: true,
      model: {
        name: "Small",
        path: "/small",
        architecture: "qwen3_5",
        parameters: 1,
        format: "4-bit",
        kv_precision: "full",
        draft_model: null,
        mtp,
        context_length: 1,
        defaults: comparison().sampling,
        thinking: false,
        thinking_effort: false,
        opens_thinking: false,
        tools: false,
        json_calls: false,
        pictures: { state: "unavailable", reason: { kind: "text_alone" } },
        fingerprint: "c0ffee00",
        weight_bytes: 1,
        draft_model_refused: null,
        macs: [],
        notes: [],
      },
    });
    const head: MtpState = { state: "present", tensors: 1, format: "4-bit", declared: true };
    const two = { mode: "fixed", depth: 2 } as const;
    expect(compareReason({ state: "starting" }, two, false, false)).toBe("No model is ready.");
    expect(compareReason(ready({ state: "absent" }), two, false, false)).toContain("no MTP head to compare");
    expect(compareReason(ready({ state: "absent" }), { mode: "lookup" }, false, false)).toBeNull();
    expect(compareReason(ready(head), two, true, false)).toContain("A reply is being written");
    expect(compareReason(ready(head), two, false, true)).toBe("A comparison is running.");
    expect(compareReason(ready(head), two, false, false)).toBeNull();
    const dflash = { mode: "dflash", depth: null } as const;
    expect(compareReason(ready(head), dflash, false, false)).toContain("No draft model is loaded");
    const beside = { name: "d", path: "/d", weight_bytes: 1, most_guesses: 15 };
    const drafted = modelInfo("/m", { draft_model: beside });
    expect(
      compareReason({ state: "ready", model: drafted, device: "gpu", in_memory: true }, dflash, false, false),
    ).toBeNull();
  });
});

describe("the axis of time", () => {
  it("names the day at midnight, and time or month where that is all", () => {
    const at = (hour: number) => new Date(2026, 10, 22, hour).getTime() / 1000;
    const [hours, days] = [12 * 3600, 86_400];
    expect([at(0), at(12), at(24)].map((tick) => tickLabel(tick, hours))).toEqual([
      "22 Nov",
      "12:00",
      "23 Nov",
    ]);
    expect(tickLabel(at(0), 7 * days)).toBe("22 Nov");
    expect(tickLabel(at(0), 91 * days)).toBe("Nov 2026");
  });
});
