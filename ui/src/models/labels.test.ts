import { describe, expect, it } from "vitest";
import type { ConversionChoice, DraftVocabularyFigures } from "../bridge/bindings";
import {
  afterwards,
  chatLabel,
  choiceLabel,
  fitLabel,
  fitSentence,
  jobNumbers,
  keepReason,
  mtpBadge,
  offlineLabel,
  parameterLabel,
  progressBytes,
  spaceProblem,
  spaceWarning,
  thousands,
  timeLeft,
  tuningLabel,
  usedLabel,
  verdictLabel,
} from "./labels";
import { fitOf, job, local, remote } from "./samples";

describe("whether a model fits", () => {
  it("is a word, with numbers where it does not", () => {
    expect(fitLabel(fitOf("fits_well"))).toBe("fits well");
    expect(fitLabel(fitOf("tight"))).toBe("tight");
    expect(fitLabel(fitOf("too_big", 19.2e9, 12e9))).toBe("too big: needs 19 GB, this computer gives 12 GB");
    const verdicts = ["fits_well", "tight", "too_big"] as const;
    expect(verdicts.map((verdict) => verdictLabel(fitOf(verdict)))).toEqual([
      "Fits well",
      "Tight",
      "Too big",
    ]);
  });

  it("never says that the same number is too much", () => {
    expect(fitLabel(fitOf("too_big", 12.4e9, 12.1e9))).toBe(
      "too big: needs 12.4 GB, this computer gives 12.1 GB",
    );
  });

  it("is explained with the context it holds for", () => {
    expect(fitSentence(fitOf("tight", 11e9, 12e9))).toMatch(
      /11\.0 GB for a context of 8,192 tokens.*Close other/,
    );
    expect(fitSentence(fitOf("too_big", 19e9, 12e9))).toContain("but this computer can give 12.0 GB");
  });
});

describe("the length of a chat", () => {
  it("is in thousands of tokens and in words", () => {
    const lengths = [4096, 16_384, 32_768, 65_536, 131_072, 262_144];
    expect(lengths.map(thousands)).toEqual(["4k", "16k", "32k", "64k", "128k", "256k"]);
    expect(new Set(lengths.map(chatLabel)).size).toBe(lengths.length);
  });
});

describe("a model that is here", () => {
  it("says what its MTP head is", () => {
    expect(mtpBadge({ state: "present", tensors: 15, format: "bfloat16", declared: true })).toBe(
      "MTP head: 15 tensors, bfloat16",
    );
    const format = "4-bit, group 64; parts bfloat16";
    expect(mtpBadge({ state: "present", tensors: 29, format, declared: true })).toBe(
      "MTP head: 29 tensors, 4-bit",
    );
    expect(mtpBadge({ state: "stripped" })).toBe("MTP head: declared but stripped");
    expect(mtpBadge({ state: "absent" })).toBe("MTP head: none");
  });

  it("says what was measured, also that nothing beats plain decoding", () => {
    const speeds = [23.6, 39.1, 44.7, 41];
    let draft_vocabulary: DraftVocabularyFigures | null = null;
    const at = (best_depth: number, tokens_per_second = speeds) =>
      tuningLabel({
        tokens_per_second,
        best_depth,
        kv_precision: "full",
        draft_vocabulary,
        strained: false,
        measured_at: 0,
      });
    expect(at(2)).toBe("Fastest with 2 drafts ahead: 45 tok/s, 1.9× plain");
    expect(at(1)).toContain("1 draft ahead");
    expect(at(0)).toBe("Fastest without drafts: 24 tok/s. Nothing beats plain decoding here.");
    expect(at(3, [8.4])).toBe("Measured");
    const drafts = (draft_milliseconds: number, accepted: number) => ({
      positions: [{ drafted: 200, accepted }],
      draft_milliseconds,
      tokens_per_second: 50,
    });
    draft_vocabulary = {
      vocabulary: 248320,
      tokens: 62080,
      coverage: 0.99,
      before: drafts(2, 180),
      after: drafts(1.5, 178),
      kept: true,
    };
    expect(at(2)).toBe(
      "Fastest with 2 drafts ahead: 45 tok/s, 1.9× plain. Drafts come from the 62,080 most frequent of 248,320 tokens: 25 % quicker, 89 % accepted instead of 90 %",
    );
    draft_vocabulary = { ...draft_vocabulary, kept: false };
    expect(at(2)).toBe("Fastest with 2 drafts ahead: 45 tok/s, 1.9× plain");
  });

  it("says when it was used", () => {
    const now = new Date(2026, 10, 21, 9).getTime();
    const at = (...date: [number, number, number]) => usedLabel(new Date(...date).getTime(), now);
    expect(usedLabel(null, now)).toBe("Not used yet");
    expect(at(2026, 10, 21)).toBe("Used today");
    expect(at(2026, 10, 20)).toBe("Used yesterday");
    expect(at(2026, 7, 9)).toBe("Used 9 August");
    expect(at(2025, 7, 9)).toBe("Used 9 August 2025");
  });

  it("is in the picker with its MTP head and fit in a word, or with why it cannot be used", () => {
    expect(choiceLabel(local("/m"))).toBe("4-bit · MTP · fits well");
    expect(choiceLabel(local("/m", { origin: "built_in" }))).toBe(
      "Came with the app · 4-bit · MTP · fits well",
    );
    const poor = local("/m", { mtp: { state: "stripped" }, fit: fitOf("too_big"), format: null });
    expect(choiceLabel(poor)).toBe("MTP stripped · too big");
    expect(choiceLabel(local("/m", { state: { state: "offline" } }))).toBe("Its disk is not connected");
  });

  it("can be deleted only where it is Foretoken's, and not while it answers", () => {
    expect(keepReason("library", false)).toBeNull();
    expect(keepReason("folder", false)).toBeNull();
    expect(keepReason("library", true)).toMatch(/in use/);
    expect(keepReason("hugging_face_cache", false)).toMatch(/Hugging Face/);
    expect(keepReason("lm_studio", false)).toMatch(/LM Studio/);
    expect(keepReason("built_in", false)).toMatch(/part of the app/);
  });

  it("names the disk to connect, unless it is the library's", () => {
    expect(offlineLabel("folder", "/Volumes/Big/m")).toContain("/Volumes/Big/m");
    expect(offlineLabel("library", "/Volumes/Big/m")).not.toContain("/Volumes");
  });
});

describe("numbers of a job", () => {
  it.each([
    [20.3e9, 55.6e9, "20.3 of 55.6 GB"],
    [0.9e9, 1.7e9, "0.9 of 1.7 GB"],
    [3e6, 48e6, "3 of 48 MB"],
    [80e9, 212e9, "80 of 212 GB"],
    [0.4e12, 1.8e12, "0.4 of 1.8 TB"],
    [5e3, 0, "5 kB"],
  ])("%d of %d bytes are %s", (done, total, words) => expect(progressBytes(done, total)).toBe(words));

  it.each([
    [3, "a few seconds left"],
    [31, "35 s left"],
    [421, "7 minutes left"],
    [61, "1 minute left"],
    [4800, "1 h 20 min left"],
    [200_000, "more than a day left"],
  ])("%d seconds are %s", (value, words) => expect(timeLeft(value)).toBe(words));

  const running = { done: 1e9, total: 4e9, bytes_per_second: 84e6, seconds_left: 36 };

  it("are bytes, speed and time while it runs, and only bytes while it does not", () => {
    expect(jobNumbers(job(1, { stage: "downloading" }, running))).toEqual({
      amount: "1.0 of 4.0 GB",
      speed: "84 MB/s",
      left: "40 s left",
    });
    expect(jobNumbers(job(1, { stage: "paused" }, running))).toEqual({
      amount: "1.0 of 4.0 GB",
      speed: "",
      left: "",
    });
    expect(jobNumbers(job(1, { stage: "queued" }, { total: 4e9 })).amount).toBe("4.0 GB");
    expect(jobNumbers(job(1, { stage: "queued" })).amount).toBe("");
  });

  it("are a share where there are no bytes", () => {
    expect(jobNumbers(job(1, { stage: "tuning" }, { done: 2, total: 8, seconds_left: 44 }))).toEqual({
      amount: "25 %",
      speed: "",
      left: "45 s left",
    });
  });
});

describe("a model to get", () => {
  it("says how many parameters take part", () => {
    expect(parameterLabel(27.8e9, null)).toBe("28 billion parameters");
    expect(parameterLabel(35e9, 3e9)).toBe("35 billion parameters, 3.0 billion active");
    expect(parameterLabel(null, null)).toBeNull();
  });

  it("says what follows the download, by the choice", () => {
    const raw = remote("org/m", { parameters: 9e9 });
    const remove = afterwards(raw, { weights: { kind: "bits", bits: 4 }, keep_raw: false });
    expect(remove).toContain("converted to 4-bit and takes about 5.1 GB");
    expect(remove).toContain("are then removed");
    expect(afterwards(raw, { weights: { kind: "bits", bits: 8 }, keep_raw: true })).toContain(
      "The original files stay too",
    );
    expect(afterwards(raw, { weights: { kind: "published" }, keep_raw: true })).toContain(
      "stay as they are published",
    );
    const converted = remote("org/m", { kind: "converted" });
    expect(afterwards(converted, { weights: { kind: "published" }, keep_raw: true })).not.toContain(
      "converted to",
    );
  });

  it("says when the disk is too small, for the download or for what follows", () => {
    const model = remote("org/m", { download_bytes: 8e9, parameters: 4e9 });
    const choice: ConversionChoice = { weights: { kind: "bits", bits: 4 }, keep_raw: false };
    expect(spaceProblem(model, 8e9)).toBeNull();
    expect(spaceProblem(model, 7e9)).toBe(
      "The download takes 8.0 GB, and 7.0 GB is free. Free some space, or move the library.",
    );
    expect(spaceProblem({ ...model, download_bytes: null }, 0)).toBeNull();
    expect(spaceWarning(model, choice, 9e9)).toContain("1.3 GB more");
    expect(spaceWarning(model, choice, 11e9)).toBeNull();
    expect(spaceWarning(model, { weights: { kind: "published" }, keep_raw: true }, 8e9)).toBeNull();
  });
});
