import { afterEach, describe, expect, it } from "vitest";
import type { ModelInfo, MtpState, PlainSpeed, ReplyStats } from "../bridge/bindings";
import { replyStats } from "../chat/samples";
import german from "../language/de";
import english from "../language/en";
import japanese from "../language/ja";
import { speak } from "../language/text";
import chinese from "../language/zh";
import { modelInfo } from "../models/samples";
import {
  bytes,
  commas,
  dayOf,
  draftingNoteLabel,
  exact,
  footerParts,
  mtpChip,
  parameters,
  percent,
  samplingLabel,
  seconds,
  sentences,
  shortDate,
  speedParts,
  speedUp,
  whoDrafted,
} from "./format";
import { parse } from "./NumberField";

const stats = replyStats();
/** The line below a reply, in one. */
const footerLabel = (of: ReplyStats): string =>
  Object.values(footerParts(of))
    .filter((part) => part !== null)
    .join(" · ");
const plain = (tokens_per_second: number): PlainSpeed => ({
  tokens_per_second,
  source: "replies",
  measured_at: 0,
});

describe("numbers as people read them", () => {
  it("says speed, tokens per pass and the share of right guesses", () => {
    const live = { tokens_per_second: 58.3, tokens_per_pass: 1.81, acceptance: 0.808, passes: [] };
    expect(speedParts(live)).toEqual(["58 tok/s", "1.8 per pass", "81 % accepted"]);
    const plain = { tokens_per_second: 8.42, tokens_per_pass: 1, acceptance: null, passes: [] };
    expect(speedParts(plain)).toEqual(["8.4 tok/s", "1.0 per pass", "no drafts"]);
  });

  it("claims a gain only where plain decoding was measured", () => {
    expect(footerLabel(stats)).toBe("58 tok/s · 1.8 per pass · 74 % accepted");
    expect(footerLabel(replyStats({ positions: [] }))).toBe("58 tok/s · 1.8 per pass");
    expect(speedUp(stats)).toBeNull();
    const gained = replyStats({ plain: plain(32) });
    expect(footerLabel(gained)).toBe("1.8× plain · 58 tok/s · 1.8 per pass · 74 % accepted");
    expect(footerLabel(replyStats({ plain: plain(70) }))).toBe(
      "0.8× plain · 58 tok/s · 1.8 per pass · 74 % accepted",
    );
  });

  it("tells no share of a handful of guesses", () => {
    const few = [
      { drafted: 12, accepted: 12 },
      { drafted: 7, accepted: 1 },
    ];
    expect(footerLabel(replyStats({ positions: few }))).toBe("58 tok/s · 1.8 per pass");
    expect(footerLabel(replyStats({ positions: [...few, { drafted: 1, accepted: 0 }] }))).toMatch(
      /65 % accepted$/,
    );
  });

  it("says how tokens were drawn", () => {
    const { sampling } = stats;
    expect(samplingLabel(sampling)).toBe("greedy");
    expect(samplingLabel({ ...sampling, temperature: 0.7, top_p: 0.8, top_k: 20 })).toBe(
      "temperature 0.7, top-k 20, top-p 0.8",
    );
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

describe("other languages", () => {
  afterEach(() => speak("en", english));
  const now = new Date(2026, 10, 21, 9).getTime();
  const [tuesday, year] = [new Date(2026, 10, 17).getTime(), new Date(2025, 8, 3).getTime()];

  it.each([
    ["de", german, "8,4 Milliarden Parameter", "81\u00A0%", "Di", "3. Sept. 2025"],
    ["zh-Hans", chinese, "84亿参数", "81%", "周二", "2025年9月3日"],
    ["ja", japanese, "84億パラメータ", "81%", "火曜日", "2025年9月3日"],
  ])("have numbers and dates of their own: %s", (locale, texts, size, share, weekday, day) => {
    speak(locale, texts);
    expect(parameters(8.4e9)).toBe(size);
    expect(percent(0.81)).toBe(share);
    expect([shortDate(tuesday, now), shortDate(year, now)]).toEqual([weekday, day]);
  });

  it("write numbers so that they can be read again", () => {
    speak("de", german);
    expect(exact(0.7)).toBe("0,7");
    expect(parse(exact(0.7), { min: 0, max: 1 })).toEqual({ value: 0.7 });
  });

  it("say what became of drafts as they do", () => {
    speak("de", german);
    const note = { kind: "not_paying", drafts: 2, times_as_long: 2.4, times_as_many_tokens: 1.9 } as const;
    expect(draftingNoteLabel(note)).toContain("Mit 2 Entwürfen dauert ein Durchgang 2,40-mal so lange");
    expect(draftingNoteLabel({ ...note, drafts: 1 })).toContain("Mit einem Entwurf dauert");
    expect(draftingNoteLabel({ kind: "switched_off" })).toBe("Entwürfe waren ausgeschaltet.");
  });

  it("put sentences and facts side by side as they do", () => {
    speak("ja", japanese);
    expect(sentences("一。", null, "二。")).toBe("一。二。");
    expect(commas(["一", false, "二"])).toBe("一、二");
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
  const NOTE = { kind: "not_paying", drafts: 2, times_as_long: 2.396, times_as_many_tokens: 1.9 } as const;
  const WORDS =
    "Drafts do not pay here: to draft and check 2 takes 2.40 times as long as a pass without, and yields 1.90 times the tokens.";
  const model = (mtp: MtpState): ModelInfo => modelInfo("/demo", { mtp });
  const withHead = model({ state: "present", tensors: 15, format: "bfloat16", declared: true });
  const said = (...of: Parameters<typeof mtpChip>) => {
    const { setting, words } = mtpChip(...of);
    return words ? `${setting} · ${words}` : setting;
  };

  it("names the setting alone while drafts help, or before that is known", () => {
    expect(said({ mode: "auto" }, withHead, null)).toBe("Auto");
    expect(said({ mode: "fixed", depth: 2 }, null, null)).toBe("2");
    expect(said({ mode: "auto" }, withHead, { kind: "others_would_be_slower" })).toBe("Auto");
  });

  it("says that drafts do not pay, and why in full, unless they are off", () => {
    expect(said({ mode: "auto" }, withHead, NOTE)).toBe("Auto · not paying here");
    expect(said({ mode: "fixed", depth: 3 }, withHead, NOTE)).toBe("3 · not paying here");
    expect(mtpChip({ mode: "auto" }, withHead, NOTE)).toMatchObject({ why: WORDS, hasHead: true });
    expect(said({ mode: "off" }, withHead, NOTE)).toBe("Off · by you");
  });

  it("looks up, or is off, where the model has no head", () => {
    expect(said({ mode: "auto" }, model({ state: "absent" }), NOTE)).toBe("Look-up · no MTP head");
    expect(said({ mode: "off" }, model({ state: "stripped" }), null)).toBe("Off · head removed");
    expect(said({ mode: "lookup" }, model({ state: "unusable" }), null)).toBe("Look-up · head unusable");
    expect(mtpChip({ mode: "auto" }, model({ state: "absent" }), null).hasHead).toBe(false);
    expect(said({ mode: "lookup" }, withHead, null)).toBe("Look-up");
    expect(said({ mode: "lookup" }, withHead, NOTE)).toBe("Look-up");
    expect(said({ mode: "fixed", depth: 2 }, model({ state: "absent" }), null)).toBe("Off · no MTP head");
    expect(mtpChip({ mode: "fixed", depth: 2 }, model({ state: "absent" }), null).why).toContain(
      "Auto and Look-up",
    );
  });

  it("says of DFlash what is so with and without a draft model", () => {
    const dflash = { mode: "dflash", depth: null } as const;
    const beside = { name: "owl-draft", path: "/owl-draft", weight_bytes: 1, most_guesses: 15 };
    const drafted = { ...withHead, draft_model: beside };
    const headless = { ...model({ state: "stripped" }), draft_model: beside };
    expect(said(dflash, drafted, null)).toBe("DFlash");
    expect(said(dflash, null, null)).toBe("DFlash");
    expect(said({ mode: "dflash", depth: 7 }, drafted, null)).toBe("DFlash, 7");
    expect(said(dflash, drafted, NOTE)).toBe("DFlash · not paying here");
    expect(said(dflash, withHead, null)).toBe("Off · no draft model");
    expect(said(dflash, model({ state: "absent" }), null)).toBe("Off · no draft model");

    expect(said({ mode: "auto" }, headless, null)).toBe("Auto");
    expect(said(dflash, headless, NOTE)).toBe("DFlash · not paying here");
    expect(said({ mode: "lookup" }, headless, NOTE)).toBe("Look-up");
    expect(said({ mode: "off" }, headless, null)).toBe("Off · by you");
    expect(said({ mode: "fixed", depth: 1 }, headless, null)).toBe("Off · head removed");
    expect(mtpChip({ mode: "fixed", depth: 1 }, headless, null)).toMatchObject({
      hasHead: false,
      why: expect.stringContaining("Auto and DFlash guess with its draft model"),
    });
  });

  it("tells who made the drafts of a reply", () => {
    const all = [
      { drafted: 30, accepted: 9 },
      { drafted: 12, accepted: 2 },
    ];
    const told = (dflash: number, text: number) =>
      whoDrafted(
        replyStats({
          positions: all,
          by_draft_model: { drafted: dflash, accepted: 0 },
          looked_up: { drafted: text, accepted: 0 },
        }),
      );
    expect(told(0, 0)).toBe("drafts: 42 by the MTP head");
    expect(told(40, 2)).toBe("drafts: 40 by DFlash, 2 from the text");
    expect(told(20, 2)).toBe("drafts: 20 by the MTP head, 20 by DFlash, 2 from the text");
    expect(whoDrafted(replyStats({ positions: [] }))).toBe(null);
  });
});
