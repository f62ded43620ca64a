import fc from "fast-check";
import { Lexer } from "marked";
import { renderToStaticMarkup } from "react-dom/server";
import { describe, expect, it } from "vitest";
import { MarkdownDocument } from "./document";
import { Markdown } from "./Markdown";
import { settle } from "./settle";
import { Splitter } from "./split";

const html = (text: string, complete = true) =>
  renderToStaticMarkup(<Markdown text={text} complete={complete} />);

/** Pieces of which answers, honest and hostile, are made. */
const PIECES = [
  "A plain sentence.",
  "Some **bold**, *soft* and `code` words.",
  "**open bold",
  "# Heading",
  "### Heading `three`",
  "#not-a-heading",
  "- one",
  "- two\n  - nested",
  "* other bullet",
  "1. first",
  "2. second\n\n   still second",
  "10) tenth",
  "> quoted",
  "> - quoted item",
  "```python\ndef f(a):\n\n    return a\n```",
  "```",
  "~~~\nwaves\n~~~",
  "  ```js\n  let a;\n\nlet b;\n  ```",
  "- item\n  ```\n  code\n\n  more\n  ```",
  "| a | b |\n|---|---|\n| 1 | 2 |",
  "| a |",
  "|---|",
  "---",
  "===",
  "    indented code",
  "<script>alert(1)</script>",
  "<div>\n\n</div>",
  "<!-- never closed",
  "[text](https://example.org)",
  "[text][ref]",
  "[ref]: https://example.org",
  "![alt](x.png)",
  "- [x] done",
  "a  \nb",
  "\\*escaped\\*",
  "&amp; &lt;b&gt;",
  "é 🦉 中文",
  "\t",
  "",
];

const text = fc
  .array(fc.tuple(fc.constantFrom(...PIECES), fc.constantFrom("\n", "\n\n", "\r\n", "\n \n", " ", "\r")), {
    maxLength: 14,
  })
  .map((parts) => parts.flat().join(""));

/** `whole` cut at the given places. */
function cut(whole: string, cuts: number[]): string[] {
  const places = [...new Set(cuts.map((place) => place % (whole.length + 1)))].sort((a, b) => a - b);
  return [...places, whole.length].map((place, index) => whole.slice(places[index - 1] ?? 0, place));
}

describe("splitting a text that arrives in pieces", () => {
  it("gives the same blocks however the text is cut", () => {
    fc.assert(
      fc.property(text, fc.array(fc.nat(2000), { maxLength: 40 }), (whole, cuts) => {
        const atOnce = new Splitter();
        atOnce.append(whole);
        atOnce.finish();
        const inPieces = new Splitter();
        for (const piece of cut(whole, cuts)) inPieces.append(piece);
        inPieces.finish();
        expect(inPieces.frozen).toEqual(atOnce.frozen);
      }),
      { numRuns: 1500 },
    );
  });

  it("gives the same page however the text is cut, with the tail drawn at every step", () => {
    fc.assert(
      fc.property(text, fc.array(fc.nat(2000), { maxLength: 12 }), (whole, cuts) => {
        const document = new MarkdownDocument();
        let sofar = "";
        for (const piece of cut(whole, cuts)) {
          sofar += piece;
          document.blocks(sofar, false);
        }
        expect(document.blocks(whole, true)).toEqual(new MarkdownDocument().blocks(whole, true));
      }),
      { numRuns: 500 },
    );
  });

  it("never changes a block that is frozen", () => {
    fc.assert(
      fc.property(text, (whole) => {
        const splitter = new Splitter();
        let before: unknown[] = [];
        for (const char of whole) {
          splitter.append(char);
          expect(splitter.frozen.slice(0, before.length).every((block, i) => block === before[i])).toBe(true);
          before = [...splitter.frozen];
        }
      }),
      { numRuns: 200 },
    );
  });

  it("reads ordinary markdown as marked reads it in one go", () => {
    const source = PIECES.filter(
      (piece) => !/^<|^\[ref|^\[text\]\[|^```$|open bold|^ {2}```/.test(piece),
    ).join("\n\n");
    const splitter = new Splitter();
    splitter.append(source);
    splitter.finish();
    const whole = new Lexer({ gfm: true, breaks: true })
      .lex(source)
      .filter((token) => token.type !== "space");
    expect(splitter.frozen.map((token) => [token.type, token.raw.trim()])).toEqual(
      whole.map((token) => [token.type, token.raw.trim()]),
    );
  });

  it("freezes paragraphs as they end and reads only what is open", () => {
    const splitter = new Splitter();
    splitter.append("One.\n\nTwo.\n\n```js\nlet a;\n\nlet b;\n");
    expect(splitter.frozen).toHaveLength(2);
    expect(splitter.tail).toBe("```js\nlet a;\n\nlet b;\n");
    expect(splitter.inFence).toBe(true);
    splitter.append("```\nThree.");
    expect(splitter.frozen).toHaveLength(3);
    expect(splitter.tail).toBe("Three.");
  });
});

describe("the tail while it is written", () => {
  it.each([
    ["a **bold", "a **bold**"],
    ["a **bold*", "a **bold**"],
    ["a **", "a "],
    ["a *soft and **both", "a *soft and **both***"],
    ["a `code", "a `code`"],
    ["a ``co`de", "a ``co`de``"],
    ["a `", "a "],
    ["~~gone", "~~gone~~"],
    ["2 * 3 = 6", "2 * 3 = 6"],
    ["snake_case_name", "snake_case_name"],
    ["see [the docs](https://exa", "see the docs"],
    ["- one\n- **two", "- one\n- **two**"],
    ["- one\n-", "- one"],
    ["Title\n-", "Title"],
    ["Title\n##", "Title"],
    ["text\n``", "text"],
    ["| a | b", ""],
    ["| a | b |\n|--", ""],
    ["| a | b |\n|---|---|\n| **x", "| a | b |\n|---|---|\n| **x**"],
    ["**closed** and done", "**closed** and done"],
    ["ends **bold **", "ends **bold**"],
  ])("%j is shown as %j", (tail, shown) => {
    expect(settle(tail)).toBe(shown);
  });

  it("never throws and never adds words", () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(..."ab *_`~[]()|-#>\n\\1.") }), (tail) => {
        const words = (s: string) => s.replace(/[^ab]/g, "");
        expect(words(settle(tail)).length).toBeLessThanOrEqual(words(tail).length);
      }),
      { numRuns: 3000 },
    );
  });
});

describe("hostile text", () => {
  it("shows HTML as text", () => {
    const page = html('<script>alert(1)</script>\n\n<img src=x onerror="alert(1)"> and <b onclick=x>b</b>');
    expect(page).not.toMatch(/<script|<img|<b[ >]/);
    expect(page).toContain("&lt;script&gt;alert(1)&lt;/script&gt;");
    expect(page).toContain("&lt;img src=x");
  });

  it("makes no address that can be followed", () => {
    const page = html(
      "[a](javascript:alert(1)) [b](https://example.org) [c](data:text/html,x) <https://example.org/d> " +
        "![e](https://example.org/e.png) [f][g]\n\n[g]: javascript:alert(1)",
    );
    expect(page).not.toMatch(/href|src=|<a[ >]/);
    expect(page).not.toMatch(/title="(?:javascript|data)/);
    expect(page).toContain('title="https://example.org"');
  });

  it("puts no style or handler into the page", () => {
    const page = html("# a\n\n| a | b |\n|:-:|--:|\n| 1 | 2 |\n\n- [x] x\n\n```js onload=x\na\n```");
    expect(page).not.toMatch(/ style=| on[a-z]+=/);
    expect(page).toContain('class="align-center"');
  });

  it("keeps an unclosed fence one block", () => {
    const page = html("Look:\n\n```js\nlet a = '<b>';\n\n# not a heading\n", false);
    expect(page.match(/<pre/g)).toHaveLength(1);
    expect(page).toContain("# not a heading");
    expect(page).not.toContain("<h");
  });

  it.each([
    ["nested quotes", ">".repeat(20_000)],
    ["nested lists", `${"- ".repeat(20_000)}a`],
    ["nested emphasis", "*a **b ".repeat(10_000)],
    ["open brackets", "[".repeat(50_000)],
    ["images in images", "![".repeat(20_000)],
    ["ticks", "`a``b```c".repeat(10_000)],
    ["one long word", "x".repeat(200_000)],
    ["blank lines in a list's fence", `- \`\`\`\n${"\n  a\n".repeat(20_000)}`],
    ["headings after a fence in a list", `- \`\`\`\n${"# a\n".repeat(20_000)}`],
    ["a table", `| a | b |\n|---|---|\n${"| **1** | `2` |\n".repeat(12_000)}`],
  ])("reads %s in a moment", (_, source) => {
    const begin = performance.now();
    const document = new MarkdownDocument();
    for (let end = 4096; end < source.length; end += 4096) document.blocks(source.slice(0, end), false);
    document.blocks(source, true);
    expect(performance.now() - begin).toBeLessThan(8000);
  });

  it("draws 200 kB that arrive in small pieces without reading finished blocks again", () => {
    const section =
      "## Part\n\nSome **bold** words and a list:\n\n- one\n- two\n\n```js\nlet a = 1;\n```\n\n";
    const source = section.repeat(Math.ceil(200_000 / section.length));
    const begin = performance.now();
    const document = new MarkdownDocument();
    let blocks = document.blocks("", false);
    for (let end = 24; end < source.length; end += 24) {
      const next = document.blocks(source.slice(0, end), false);
      expect(next[0]).toBe(blocks[0] ?? next[0]);
      if (next.length > 3) blocks = next;
    }
    expect(document.blocks(source, true).length).toBeGreaterThan(4 * 1500);
    expect(performance.now() - begin).toBeLessThan(20_000);
  });
});

describe("ordinary text", () => {
  it("draws what markdown means", () => {
    expect(html("a **b** *c* ~~d~~ `e`  \nf &amp; g\\*")).toBe(
      '<div class="markdown"><p>a <strong>b</strong> <em>c</em> <del>d</del> <code>e</code><br/>f &amp; g*</p></div>',
    );
    expect(html("3. x\n4. y")).toContain('<ol start="3"><li>x</li><li>y</li></ol>');
    expect(html("- [x] done\n- [ ] open").match(/type="checkbox"/g)).toHaveLength(2);
    expect(html("one<br>two")).toContain("<br/>");
  });
});
