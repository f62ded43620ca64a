import fc from "fast-check";
import { renderToStaticMarkup } from "react-dom/server";
import { describe, expect, it } from "vitest";
import type { DraftRun } from "../bridge/bindings";
import { Markdown } from "../markdown/Markdown";
import { align } from "./align";
import { shownPlaces, stretches } from "./paint";
import { characters, fitRuns, joinRuns, pieces, places } from "./runs";

const REFERENCES: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"', "#x27": "'" };

/** The text of a rendered source, as its text nodes have it, without what is no part of it. */
function rendered(source: string): string {
  const html = renderToStaticMarkup(<Markdown text={source} complete />);
  return html
    .replace(/<(figcaption|button)\b.*?<\/\1>/gs, "")
    .replace(/<[^>]*>/g, "")
    .replace(/&(amp|lt|gt|quot|#x27);/g, (_, name) => REFERENCES[name] as string);
}

/** A piece of markdown, and the places of the words in it that are shown. */
interface Piece {
  source: string;
  shown: { word: string; at: number }[];
}

const WORDS = [
  "a",
  "an",
  "the",
  "docs",
  "python",
  "1",
  "2",
  "https",
  "amp",
  "naïve",
  "日本",
  "🦉",
  "x1",
  "http",
];
const word = fc.constantFrom(...WORDS);

const hidden = (source: string): Piece => ({ source, shown: [] });
const said = (word: string): Piece => ({ source: word, shown: [{ word, at: 0 }] });

function joined(...pieces: Piece[]): Piece {
  let source = "";
  const shown: Piece["shown"] = [];
  for (const piece of pieces) {
    shown.push(...piece.shown.map(({ word, at }) => ({ word, at: at + source.length })));
    source += piece.source;
  }
  return { source, shown };
}

const between = (pieces: Piece[], mark: string): Piece =>
  joined(...pieces.flatMap((piece, index) => (index ? [hidden(mark), piece] : [piece])));

const around = (mark: string) => (piece: Piece) => joined(hidden(mark), piece, hidden(mark));
const words = fc.array(word, { minLength: 1, maxLength: 4 }).map((words) => between(words.map(said), " "));

const inline = fc.oneof(
  { weight: 3, arbitrary: words },
  words.map(around("**")),
  words.map(around("*")),
  words.map(around("`")),
  words.map(around("~~")),
  fc
    .tuple(words, fc.array(word, { minLength: 1, maxLength: 3 }))
    .map(([text, path]) =>
      joined(hidden("["), text, hidden(`](https://example.org/${encodeURI(path.join("/"))})`)),
    ),
  words.map((text) => joined(hidden("![ "), text, hidden("](docs/python.png)"))),
  words.map((text) => joined(hidden("(&amp; "), text, hidden(", &lt;)"))),
);
const line = fc.array(inline, { minLength: 1, maxLength: 5 }).map((pieces) => between(pieces, " "));
const lines = fc.array(line, { minLength: 1, maxLength: 4 });

const block = fc.oneof(
  lines.map((lines) => between(lines, "\n")),
  line.map((line) => joined(hidden("## "), line)),
  lines.map((lines) =>
    between(
      lines.map((line) => joined(hidden("- "), line)),
      "\n",
    ),
  ),
  lines.map((lines) =>
    between(
      lines.map((line, index) => joined(hidden(`${index + 1}. `), line)),
      "\n",
    ),
  ),
  lines.map((lines) =>
    between(
      lines.map((line, depth) => joined(hidden(`${"  ".repeat(depth)}- `), line)),
      "\n",
    ),
  ),
  lines.map((lines) =>
    between(
      lines.map((line) => joined(hidden("- [x] "), line)),
      "\n",
    ),
  ),
  lines.map((lines) =>
    between(
      lines.map((line) => joined(hidden("> "), line)),
      "\n",
    ),
  ),
  fc
    .tuple(word, fc.array(words, { minLength: 1, maxLength: 4 }))
    .map(([language, lines]) =>
      joined(hidden(`\`\`\`${language}\n`), between(lines, " = \n\t"), hidden("\n```")),
    ),
  fc.array(fc.tuple(words, words), { minLength: 1, maxLength: 3 }).map((rows) =>
    between(
      [["h1", "h2"].map(said), [hidden("---"), hidden("---")], ...rows].map((cells) =>
        joined(hidden("| "), between(cells as Piece[], " | "), hidden(" |")),
      ),
      "\n",
    ),
  ),
);
const text = fc.array(block, { minLength: 1, maxLength: 6 }).map((blocks) => between(blocks, "\n\n"));

describe("where rendered words stand in the source", () => {
  it("is found for every word of any markdown", () => {
    fc.assert(
      fc.property(text, ({ source, shown }) => {
        const output = rendered(source);
        const found = align(source, output);
        let from = 0;
        for (const { word, at } of shown) {
          const place = output.indexOf(word, from);
          expect(place).toBeGreaterThanOrEqual(0);
          expect(Array.from(found.subarray(place, place + word.length))).toEqual(
            Array.from({ length: word.length }, (_, index) => at + index),
          );
          from = place + word.length;
        }
      }),
      { numRuns: 400 },
    );
  });
});

describe("a rendering that is not quite that of its source", () => {
  const place = (source: string, output: string, word: string) =>
    align(source, output)[output.indexOf(word)] as number;

  it("is followed behind what is drawn in another way", () => {
    const source = "Let $x^2 + y_1$ be one word and &copy; another, said twice: word.";
    const output = "Let x2+y1 be one word and © another, said twice: word.";
    expect(place(source, output, "word")).toBe(source.indexOf("word"));
    expect(align(source, output)[output.lastIndexOf("word")]).toBe(source.lastIndexOf("word"));
  });

  it("is given up where both have nothing in common", () => {
    const output = "zyxw ".repeat(20_000);
    const found = align("abcd ".repeat(20_000), output);
    expect(found.every((at, unit) => at === -1 || output[unit] === " ")).toBe(true);
  });

  it("has commas and brackets found between the words", () => {
    const source = "**One**, (two); `f(x, y)`.";
    const output = "One, (two); f(x, y).";
    const marks = [...align(source, output)].map((at) => source[at]).join("");
    expect(marks).toBe(output);
  });
});

describe("stretches of a text by where they came from", () => {
  const run = fc.tuple(fc.integer({ min: 0, max: 9 }), fc.integer({ min: 0, max: 5 }));
  const runs = fc.array(run) as fc.Arbitrary<DraftRun[]>;
  const spread = (runs: DraftRun[]) => runs.flatMap(([count, position]) => Array(count).fill(position));

  it("are joined and cut without loss", () => {
    fc.assert(
      fc.property(runs, runs, fc.integer({ min: 0, max: 60 }), (known, more, length) => {
        expect(spread(joinRuns(known, more))).toEqual([...spread(known), ...spread(more)]);
        const fitted = spread(fitRuns(known, length));
        expect(fitted).toHaveLength(length);
        const kept = spread(known).slice(0, length);
        expect(fitted).toEqual([...kept, ...Array(length - kept.length).fill(0)]);
      }),
    );
  });

  it("count a character outside of the basic plane once", () => {
    expect(characters("a🦉b")).toBe(3);
    expect(characters("\ud83e")).toBe(1);
    expect(
      Array.from(
        places("a🦉b", [
          [1, 1],
          [1, 2],
          [1, 9],
        ]),
      ),
    ).toEqual([1, 2, 2, 3]);
    expect(
      pieces("a🦉b c", [
        [2, 1],
        [1, 0],
      ]),
    ).toEqual([
      { text: "a🦉", place: 1 },
      { text: "b c", place: 0 },
    ]);
  });

  it("are marked by position, without white space at their ends", () => {
    const source = "An **owl** called Ines";
    const output = "An owl called Ines";
    const runs: DraftRun[] = [
      [2, 0],
      [6, 1],
      [9, 2],
      [5, 0],
    ];
    const shown = shownPlaces(source, output, places(source, runs));
    const found = stretches(shown, output, 0, output.length);
    expect(found.map(({ from, to, kind }) => [output.slice(from, to), kind])).toEqual([
      ["owl", 1],
      ["called", 2],
    ]);
  });
});
