import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { aboutCall, argumentsOf, editable, hiddenInArguments, objectOf } from "./callArguments";
import { isWhole, outcomeOf, pictureAddress } from "./outcome";
import { hiddenIn, pieces, visible } from "./visible";

describe("characters that nobody would see", () => {
  it("are drawn by their names, but for tabs and newlines", () => {
    expect(visible("pay\u202eoday\n\t\u{e0041}.\u200b\r")).toBe(
      "pay⟨U+202E⟩oday\n\t⟨U+E0041⟩.⟨U+200B⟩⟨U+000D⟩",
    );
    expect(visible("Straße 日本 ✓")).toBe("Straße 日本 ✓");
  });

  it.each([
    "\0",
    "\u001b",
    "\u0085",
    "\u202a",
    "\u202e",
    "\u2066",
    "\u2069",
    "\u200e",
    "\u200f",
    "\u061c",
    "\u200b",
    "\u200c",
    "\u200d",
    "\u2060",
    "\ufeff",
    "\u00ad",
    "\u{e0000}",
    "\u{e007f}",
    "\u{e0100}",
    "\u{e01ef}",
    "\u2028",
    "\u3164",
    "\ufff9",
    "\u{1d173}",
    "\ud800",
  ])("are found: %j", (character) => {
    expect(hiddenIn(`a${character}b`)).toBe(1);
  });

  it("are not those that emoji are joined of", () => {
    for (const emoji of ["👨‍👩‍👧", "❤️‍🔥", "👩🏽‍🚀", "🏳️‍🌈", "☺️", "🧑‍⚕️"]) expect(visible(emoji)).toBe(emoji);
    expect(hiddenIn("👨\u200d\u200d👩")).toBe(2);
    expect(hiddenIn("☺\ufe0f\ufe01\ufe02")).toBe(2);
    expect(hiddenIn("👨\u200da")).toBe(1);
    expect(hiddenIn("\ufe0fa")).toBe(1);
  });

  it("stand in pieces of their own", () => {
    expect(pieces("a\u200bb")).toEqual([
      { text: "a", hidden: false },
      { text: "⟨U+200B⟩", hidden: true },
      { text: "b", hidden: false },
    ]);
  });

  it("are none in what was made visible, whatever the text", () => {
    fc.assert(fc.property(fc.string({ unit: "binary" }), (text) => hiddenIn(visible(text)) === 0));
  });
});

describe("the arguments of a call", () => {
  it("are each told in full, words as they are and all else as JSON", () => {
    expect(argumentsOf('{"path":"a\\nb","count":2,"all":true,"list":[1]}')).toEqual([
      { key: "path", value: "a\nb" },
      { key: "count", value: "2" },
      { key: "all", value: "true" },
      { key: "list", value: "[\n  1\n]" },
    ]);
    expect(argumentsOf("")).toEqual([]);
    expect([argumentsOf("[1]"), argumentsOf("{"), argumentsOf("null")]).toEqual([null, null, null]);
  });

  it("are an object where they are to be changed", () => {
    expect([objectOf('{"a":1}'), objectOf("[]"), objectOf('"a"'), objectOf("{a}")]).toEqual([
      { a: 1 },
      null,
      null,
      null,
    ]);
  });

  it("hide nothing from whoever changes them, and stay what they were", () => {
    const json = JSON.stringify({ "k\u200b": "a\u202eb\u{e0041}" });
    const shown = editable(json);
    expect(hiddenIn(shown)).toBe(0);
    expect(shown).toContain("a\\u202eb\\udb40\\udc41");
    expect(JSON.parse(shown)).toEqual(JSON.parse(json));
    expect(hiddenInArguments(json)).toBe(3);
  });

  it("say in a line what a call is about", () => {
    expect(aboutCall('{"all":true,"path":"a\\n b\u200b"}')).toBe("a b⟨U+200B⟩");
    expect(aboutCall('{"sum":12}')).toBe("12");
    expect([aboutCall("{}"), aboutCall("{"), aboutCall('{"path":" "}')]).toEqual([null, null, null]);
    expect(aboutCall(JSON.stringify({ text: "a".repeat(500) }))).toHaveLength(121);
  });
});

describe("what a tool gave", () => {
  const picture = (media_type: string, data: string) => pictureAddress({ media_type, data });

  it("is read part by part, and what is no part is left out", () => {
    const parts = [{ kind: "text", text: "a" }, { kind: "text" }, { kind: "else" }, null];
    expect(outcomeOf(JSON.stringify({ parts, failed: true }))).toEqual({
      parts: [{ kind: "text", text: "a" }],
      failed: true,
    });
    expect([outcomeOf("{"), outcomeOf("{}"), outcomeOf("null")]).toEqual([null, null, null]);
  });

  it("is drawn where it is a picture of a kind that can do nothing, and not too large", () => {
    expect(picture("image/png", "AAE\nC")).toBe("data:image/png;base64,AAEC");
    expect(picture("image/svg+xml", "AAEC")).toBeNull();
    expect(picture("text/html", "AAEC")).toBeNull();
    expect(picture("image/png", "https://example.org/x.png")).toBeNull();
    expect(picture("image/png", "A".repeat(8_000_004))).toBeNull();
  });

  it("is what the model got where it is text alone and nothing was left out", () => {
    const text = (text: string) => ({ kind: "text" as const, text });
    expect(isWhole({ parts: [text("a"), text(" "), text("b")], failed: false }, "a\n\nb")).toBe(true);
    expect(isWhole({ parts: [text("a")], failed: false }, "a…")).toBe(false);
    const drawn = { kind: "picture" as const, media_type: "image/png", data: "" };
    expect(isWhole({ parts: [drawn], failed: false }, "")).toBe(false);
  });
});
