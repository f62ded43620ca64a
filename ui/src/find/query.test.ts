import fc from "fast-check";
import { describe, expect, it } from "vitest";
import json from "../../../src-tauri/crates/chats/src/search/examples.json?raw";
import { matchesIn, mayHold, parseQuery } from "./query";
import { termsOf } from "./terms";

/** What the search of the store is tested with too. */
const examples: { terms: [string, string][]; matches: [string, string, string][] } = JSON.parse(json);

/** The text with matches in brackets. */
function marked(text: string, query: string): string {
  let [all, end] = ["", 0];
  for (const { from, to } of matchesIn(text, parseQuery(query)).parts) {
    all += `${text.slice(end, from)}[${text.slice(from, to)}]`;
    end = to;
  }
  return all + text.slice(end);
}

const folded = (text: string) =>
  termsOf(text)
    .map((term) => term.folded)
    .join(" ");

describe("the words of a text", () => {
  it.each(examples.terms)("of %j are those that the store finds", (text, terms) => {
    expect(folded(text)).toBe(terms);
  });

  it("are cut where there are no spaces", () => {
    expect(folded("x".repeat(130))).toBe(`${"x".repeat(64)} ${"x".repeat(64)} xx`);
  });

  it("stand where they say, and are the same after other words", () => {
    const character = fc.constantFrom(
      "a",
      "B",
      "1",
      " ",
      "-",
      "é",
      "e\u0301",
      "ß",
      "漢",
      "👩‍👧",
      "ガ",
      "“",
      "\r\n",
    );
    const text = fc.string({ unit: character, maxLength: 30 });
    fc.assert(
      fc.property(text, text, (one, other) => {
        let end = 0;
        for (const { from, to } of termsOf(one)) {
          expect(from).toBeLessThan(to);
          expect(to).toBeGreaterThanOrEqual(end);
          end = to;
        }
        expect(folded(`${one} ${other}`)).toBe([folded(one), folded(other)].filter(Boolean).join(" "));
      }),
    );
  });
});

describe("what matches", () => {
  it.each(examples.matches)("in %j for %j is what the store marks", (text, query, expected) => {
    expect(marked(text, query)).toBe(expected);
  });

  it("is all of it only where every word is there", () => {
    const complete = (query: string) => matchesIn("An owl rang a bell.", parseQuery(query)).complete;
    expect(complete("owl bell")).toBe(true);
    expect(complete("owl fox")).toBe(false);
    expect(complete('"rang a"')).toBe(true);
    expect(complete("  *")).toBe(false);
  });

  it("is never missed by the first look at a text", () => {
    const text = fc.string({ unit: fc.constantFrom("a", "B", "b", " ", "-", "é"), maxLength: 20 });
    fc.assert(
      fc.property(text, text, (text, words) => {
        const query = parseQuery(words);
        if (matchesIn(text, query).complete) expect(mayHold(text, query)).toBe(true);
      }),
    );
    expect(mayHold("an owl", parseQuery("fox"))).toBe(false);
  });
});
