// @vitest-environment happy-dom
import { cleanup, fireEvent, render, screen, within } from "@testing-library/react";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { MeasuringOutlook, QualityOffer } from "../bridge/bindings";
import { shell } from "../bridge/bridge";
import { useStore } from "../state/store";
import { ConvertSheet } from "./ConvertSheet";
import { LocalDetails } from "./LocalDetails";
import {
  aboutTime,
  closenessName,
  closenessWords,
  evidenceSentence,
  evidenceTable,
  memoryWords,
  placeOf,
  speedWordsOf,
  stopAt,
  stopsOf,
} from "./quality";
import { evidenceOf, fitOf, job, library, local, sizesOf } from "./samples";

const raw = local("/raw", { format: "bfloat16", parameters: 8e9, disk_bytes: 16e9 });
const sizes = sizesOf(8e9, [2.5, 3, 3.5, 4, 4.5, 5]);
const made = local("/made", { original: "/raw", evidence: evidenceOf(0.02, { bytes: 4e9 }) });

const first = useStore.getInitialState();
afterEach(() => {
  cleanup();
  vi.restoreAllMocks();
  useStore.setState(first, true);
});

describe("the sizes of a conversion by quality", () => {
  it("are those that are offered and those that were made, with the names on their stops", () => {
    const other = local("/other", {
      original: "/raw",
      evidence: evidenceOf(0.05, { bytes: 3.2e9, bits_per_weight: 3.2 }),
    });
    const stranger = local("/stranger", { original: "/b", evidence: evidenceOf(1, { bytes: 5e9 }) });
    const stops = stopsOf(sizes, [made, other, stranger, raw], "/raw");
    expect(stops.map(({ bits }) => bits)).toEqual([2.5, 3, 3.2, 3.5, 4, 4.5, 5]);
    expect(stops.map(({ model }) => model?.path ?? null)).toEqual([
      null,
      null,
      "/other",
      null,
      "/made",
      null,
      null,
    ]);
    expect(stops.flatMap(({ names }) => names)).toEqual(["Small", "Balanced", "Close to original"]);
    expect(stopAt(stops, null, sizes)).toBe(4);
    expect(stopAt(stops, 3.2e9, sizes)).toBe(2);
    const one: QualityOffer = { ...sizes, small: sizes.balanced };
    expect(stopsOf(one, [], "/raw").map(({ names }) => names.join())).toContain("Small,Balanced");
  });

  it("tell in numbers how close they are only where that was measured", () => {
    const stops = stopsOf(sizes, [made], "/raw");
    expect(stops[3] && closenessWords(stops[3])).toContain("in about 3 of 100 words (KL divergence 0.020)");
    expect(stops[0] && closenessWords(stops[0])).toMatch(/^Expected, not measured[^\d]*$/);
  });

  it("tell what they leave of the memory, and how fast they are expected to be", () => {
    const stop = { bytes: 4e9, bits: 4, names: [], model: null };
    expect(memoryWords(fitOf("too_big", 18e9, 12e9), 16e9, stop)).toContain("6.0 GB left of the 12.0 GB");
    expect(memoryWords(fitOf("too_big", 18e9, 5e9), 16e9, stop)).toContain("Needs 1.0 GB more");
    expect(memoryWords(null, 16e9, stop)).toBeNull();
    expect(speedWordsOf(8e9, { ...stop, bytes: 3e9 })).toBe("About 1.5× the speed of 4-bit, expected");
    expect(speedWordsOf(null, stop)).toBeNull();
  });

  it("take about so long to find", () => {
    expect([20, 70, 1460, 3700, 5400].map(aboutTime)).toEqual([
      "less than a minute",
      "about a minute",
      "about 24 minutes",
      "about an hour",
      "about 1.5 hours",
    ]);
  });
});

describe("the sheet of a conversion", () => {
  const open = (offer: QualityOffer | null, outlook: MeasuringOutlook | null = null) => {
    useStore.setState({ library: library({ models: [raw, made] }) });
    const asked = vi.spyOn(shell, "qualityOffer").mockResolvedValue(offer && { text: "/me/notes.md", offer });
    vi.spyOn(shell, "measuringOutlook").mockResolvedValue(outlook);
    const sheet = render(<ConvertSheet model={raw} open onClose={() => {}} />);
    return { asked, sheet };
  };

  it("converts to the stop of the slider, which begins at the balanced one", async () => {
    const convert = vi.spyOn(shell, "convertModel").mockResolvedValue(1);
    const { asked } = open(sizes);
    expect(asked).not.toHaveBeenCalled();
    fireEvent.click(screen.getByTestId("conversion-quality"));
    const slider = await screen.findByRole("slider");
    expect(slider.getAttribute("aria-valuetext")).toMatch(
      /^Balanced\. 4\.0 GB, 4\.0 bits.*Measured: differs/,
    );
    const button = () => screen.getByTestId("convert");
    fireEvent.click(button());
    expect(convert, "one of this size is here").not.toHaveBeenCalled();
    fireEvent.change(slider, { target: { value: "2" } });
    expect(screen.getByTestId("quality-words").textContent).toContain("3.5 bits per weight");
    fireEvent.click(screen.getByRole("button", { name: "Small" }));
    expect(slider.getAttribute("aria-valuetext")).toMatch(/^Small\..*3\.0 bits/);
    fireEvent.click(button());
    expect(convert).toHaveBeenCalledExactlyOnceWith("/raw", {
      weights: { kind: "chosen", bytes: 3e9 },
      keep_raw: true,
    });
  });

  it("has the model measured first, on the text that was chosen", async () => {
    const measure = vi.spyOn(shell, "measureQuality").mockResolvedValue(7);
    vi.spyOn(shell, "chooseMeasuredText").mockResolvedValue("/me/notes.md");
    open(null, { seconds: 1460, peak_bytes: 3.4e9, tokens: 48_210, disk_bytes: 4.1e9 });
    fireEvent.click(screen.getByTestId("conversion-quality"));
    expect((await screen.findByTestId("measure-outlook")).textContent).toMatch(
      /about 24 minutes, 3\.4 GB of memory and 4\.1 GB on the disk/,
    );
    const part = within(screen.getByTestId("measure-first"));
    expect(part.getByText("The program’s own texts")).toBeTruthy();
    fireEvent.click(part.getByTestId("choose-text"));
    expect(await part.findByText("notes.md")).toBeTruthy();
    expect(part.getByText(/neither copied nor sent/)).toBeTruthy();
    fireEvent.click(screen.getByTestId("measure"));
    expect(measure).toHaveBeenCalledExactlyOnceWith("/raw", "/me/notes.md");
  });

  it("says how far a measurement is that goes on, and what it takes only where that is known", async () => {
    open(null);
    fireEvent.click(screen.getByTestId("conversion-quality"));
    await screen.findByTestId("measure-first");
    expect(screen.queryByTestId("measure-outlook")).toBeNull();
    const probe = job(3, { stage: "probing" }, { kind: "probe", model: "/raw", done: 1, total: 4 });
    const other = { ...probe, id: 4, model: "/other" };
    useStore.setState({ library: library({ models: [raw], jobs: [other, probe] }) });
    expect((await screen.findByRole("status")).textContent).toBe("Measuring what each part costs: 25 %");
    expect(screen.queryByTestId("measure")).toBeNull();
  });
});

describe("the evidence of a model", () => {
  it("is a sentence with what it was measured on", () => {
    expect(evidenceSentence(evidenceOf(0.02))).toBe(
      "Chooses the same next token as the original 97 of 100 times, measured on 3,439 tokens that took no part in choosing.",
    );
    expect(evidenceSentence(evidenceOf(0.001, { same_choice: 0.9979 }))).toContain("99.7 of 100 times");
  });

  it("has a place on the scale and the closest name that it reaches", () => {
    expect([0.2, 0.1, 0.02, 0.006, 0].map(closenessName)).toEqual([
      null,
      "Small",
      "Balanced",
      "Close to original",
      "Close to original",
    ]);
    expect([9, 0.5, 0.001, 0].map(placeOf)).toEqual([0, 0, 1, 1]);
    expect(placeOf(0.03)).toBeGreaterThan(placeOf(0.1));
  });

  it("has a table of what was measured alone", () => {
    const table = Object.fromEntries(evidenceTable(evidenceOf(0.02)));
    expect(table).toMatchObject({
      "KL divergence": "0.020 ± 0.0025 nats a token",
      Perplexity: "7.46 · original 7.39",
      "Drafts accepted": "62 % · original 63 %",
      Text: "The program’s own texts · 3,439 tokens",
      Matrices: "41 in 3 bits, 120 in 4 bits, 38 in 5 bits, 3 not quantized",
    });
    const less = evidenceOf(0.02, {
      kl_error: null,
      after: { perplexity: 7, drafts_accepted: null },
      bits_per_weight: null,
      matrices: [],
    });
    expect(evidenceTable(less).map(([name]) => name)).toEqual([
      "KL divergence",
      "99 of 100 tokens",
      "Perplexity",
      "Text",
    ]);
  });

  it("is on the page of a model that has one", () => {
    render(<LocalDetails model={made} open onClose={() => {}} />);
    expect(screen.getByTestId("closeness").getAttribute("aria-label")).toMatch(/0\.020 .*: Balanced$/);
    expect(screen.queryByTestId("evidence-table")).toBeNull();
    fireEvent.click(screen.getByTestId("evidence-toggle"));
    expect(screen.getByTestId("evidence-table").textContent).toContain("± 0.0025");
  });
});
