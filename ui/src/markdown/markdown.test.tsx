import fc from "fast-check";
import { Lexer } from "marked";
import { renderToStaticMarkup } from "react-dom/server";
import temml from "temml";
import { describe, expect, it } from "vitest";
import { addressOf } from "./address";
import { MarkdownDocument } from "./document";
import { Shown } from "./Link";
import { lex, type Token, type Tokens } from "./lex";
import { Group, Markdown } from "./Markdown";
import { pieces } from "./pieces";
import { runsOf } from "./runs";
import { settle } from "./settle";
import { Splitter } from "./split";
import { LIMITS } from "./typeset";

const html = (text: string, complete = true) =>
  renderToStaticMarkup(<Markdown text={text} complete={complete} />);

const draw = (blocks: readonly Token[]) => renderToStaticMarkup(<Group blocks={blocks} />);

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
  "👩‍👩‍👧‍👦 🇩🇪 👍🏽",
  "| 中文 | עברית |\n|:-:|--:|\n| 🦉 | `a|b` |\n| **1** |",
  "- [ ] open\n- [x] closed\n  - [ ] nested",
  "שלום `code` and **עולם**",
  "```rust\nfn main() {}\n```",
  "````md\n```js\n1\n```\n````",
  "\t",
  "",
];

/** Formulas, and what looks like one; marked alone knows none. */
const FORMULAS = [
  "The sum $a_1 * b_2$ and $c_3 * d_4$.",
  "$5 and $6, US$7, $HOME, 8$ and \\$9",
  "**bold $x*y$ bold**",
  "$$\nx\n- y\n= z\n# 1\n$$",
  "text:\n$$\nx\n=\ny\n$$\nmore",
  "$$x$$ and \\[y\\] in a line",
  "\\(a\\) \\(b",
  "\\[\n\\frac{1}{2}\n\\]",
  "- $x$\n\n  $$\n  y\n  $$\n- z",
  "> $$\n> x\n> $$",
  "| $a$ | \\(b\\) |\n|---|---|\n| $c$ | $5 |",
  "$$",
  "$",
  "\\[",
  "\\",
  "$$\n\nnot one\n\n$$",
];

const text = fc
  .array(
    fc.tuple(
      fc.constantFrom(...PIECES, ...FORMULAS),
      fc.constantFrom("\n", "\n\n", "\r\n", "\n \n", " ", "\r"),
    ),
    {
      maxLength: 14,
    },
  )
  .map((parts) => parts.flat().join(""));

/** `whole` cut at the given places. */
function cut(whole: string, cuts: number[]): string[] {
  const places = [...new Set(cuts.map((place) => place % (whole.length + 1)))].sort((a, b) => a - b);
  return [...places, whole.length].map((place, index) => whole.slice(places[index - 1] ?? 0, place));
}

describe("what would take long to read", () => {
  /** A whole paragraph of the same over and over. */
  const worst = fc
    .tuple(fc.constantFrom(..." `*_~[]()<>!\\$|&#a@.é🦉\t"), fc.constantFrom("", " ", "a", "*", "🦉"))
    .map((parts) => parts.join("").repeat(20_000));

  it("is read in pieces of which none is long or has many marks, and nothing is lost", () => {
    fc.assert(
      fc.property(fc.oneof(worst, fc.string({ maxLength: 30_000, minLength: 9_000 })), (text) => {
        const read = pieces(text);
        expect(read.join("")).toBe(text);
        for (const piece of read) {
          expect(piece.length).toBeLessThanOrEqual(8_000);
          expect(piece.match(/[`*_[\]<!\\|~$]/g)?.length ?? 0).toBeLessThanOrEqual(1_500);
          expect(/^[\uDC00-\uDFFF]|[\uD800-\uDBFF]$/.test(piece)).toBe(
            /^[\uDC00-\uDFFF]|[\uD800-\uDBFF]$/.test(text),
          );
        }
      }),
      { numRuns: 60 },
    );
    expect(pieces(" ".repeat(200_000)).every((piece) => piece.length <= 400)).toBe(true);
    expect(pieces("`".repeat(200_000)).every((piece) => piece.length <= 400)).toBe(true);
  });

  it("is no paragraph that anyone writes", () => {
    const sentence =
      "Let $x_1^2$ be **bold**, *soft* or `code`, as [the page](https://example.org/a_b) says. ";
    for (const paragraph of ["", "A few words.", sentence.repeat(60), "的一是在不了有和人这".repeat(500)])
      expect(pieces(paragraph)).toEqual([paragraph]);
  });

  it("is all shown", () => {
    const shown = (text: string) => html(text).replace(/<[^>]*>/g, "");
    expect(shown(`a${"!".repeat(20_000)}b`)).toBe(`a${"!".repeat(20_000)}b`);
    expect(shown("word ".repeat(4_000))).toBe("word ".repeat(4_000));
    expect(html(`${"word ".repeat(4_000)}**bold**`)).toContain("<strong>bold</strong>");
  });
});

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

  it("draws what has come so far, wherever the text is cut", () => {
    fc.assert(
      fc.property(text, fc.nat(2000), (whole, place) => {
        const [begun = ""] = cut(whole, [place]);
        expect(html(begun, false)).toMatch(/^<div class="markdown">.*<\/div>$/s);
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
    ["**bold $x*y$ more", "**bold $x*y$ more**"],
    ["the sum $a_", "the sum "],
    ["the **sum $a_", "the **sum**"],
    ["it costs $", "it costs "],
    ["it costs $5 and", "it costs $5 and"],
    ["it costs US$5", "it costs US$5"],
    ["so \\", "so "],
    ["so \\(x + *y", "so "],
    ["so \\(x\\) and *y", "so \\(x\\) and *y*"],
    ["so $$x$", "so "],
    ["so:\n$$\nx\n- y\n$", "so:\n"],
    ["- so:\n  \\[\n  x", "- so:\n  "],
    ["$$\nx\n$$\nand **bold", "$$\nx\n$$\nand **bold**"],
  ])("%j is shown as %j", (tail, shown) => {
    expect(settle(tail)).toBe(shown);
  });

  it("never throws and never adds words", () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(..."ab *_`~[]()|-#>\n\\1.$") }), (tail) => {
        const words = (s: string) => s.replace(/[^ab]/g, "");
        expect(words(settle(tail)).length).toBeLessThanOrEqual(words(tail).length);
      }),
      { numRuns: 3000 },
    );
  });
});

describe("a list while it is written", () => {
  const item = fc.constantFrom(
    "one",
    "**two**",
    "t\n  - h\n  - r",
    "four\n\n  more",
    "[x] five",
    "```\n  a\n  ```",
    "$s$ ix",
  );
  const list = fc
    .tuple(
      fc.constantFrom("- ", "* ", "1. ", "2) "),
      fc.array(fc.tuple(item, fc.constantFrom("\n", "\n\n")), { minLength: 1 }),
    )
    .map(([marker, items]) => items.map(([text, end]) => marker + text + end).join(""));

  it("is shown as if all of it were read at once", () => {
    fc.assert(
      fc.property(list, (whole) => {
        const document = new MarkdownDocument();
        for (let end = 1; end <= whole.length; end += 1) {
          const tail = whole.slice(0, end);
          expect(draw(document.blocks(tail, false))).toBe(draw(lex(settle(tail))));
        }
      }),
      { numRuns: 40 },
    );
  });

  it("reads an item once", () => {
    const document = new MarkdownDocument();
    const source = "1. one\n\n2. two\n\n3. three";
    const items = (end: number) => (document.blocks(source.slice(0, end), false)[0] as Tokens.List).items;
    const [first] = items(18);
    expect(items(source.length)[0]).toBe(first);
    expect(items(source.length)).toHaveLength(3);
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
    expect(page).toContain('title="https://example.org/"');
  });

  it("stresses the site of an address and says what could deceive", () => {
    const address = addressOf("https://apple.com@evil.example/apple.com");
    const shown = address ? renderToStaticMarkup(<Shown address={address} />) : "";
    expect(shown).toContain("https://<strong>evil.example</strong>/apple.com</code>");
    expect(shown).toContain("the site is evil.example.</p>");
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
    ["one line of spaces", " ".repeat(100_000)],
    ["blank lines in a list's fence", `- \`\`\`\n${"\n  a\n".repeat(20_000)}`],
    ["headings after a fence in a list", `- \`\`\`\n${"# a\n".repeat(20_000)}`],
    ["dollars", "$".repeat(50_000)],
    ["open formulas", "$a ".repeat(20_000)],
    ["open brackets of formulas", "\\(".repeat(10_000)],
    ["ends of formulas that are escaped", "\\(\\\\)".repeat(10_000)],
    ["formulas on lines of their own", "$$\n".repeat(20_000)],
    ["one open formula", `$$\n${"x + ".repeat(40_000)}`],
    ["formulas in a list", `- a\n${"  $$\n  x\n".repeat(2_000)}`],
    ["a table", `| a | b |\n|---|---|\n${"| **1** | `2` |\n".repeat(12_000)}`],
  ])("reads %s in a moment", (_, source) => {
    const document = new MarkdownDocument();
    for (let end = 4096; end < source.length; end += 4096) document.blocks(source.slice(0, end), false);
    document.blocks(source, true);
  });

  it("draws 200 kB that arrive in small pieces without reading finished blocks again", () => {
    const section =
      "## Part\n\nSome **bold** words and a list:\n\n- one\n- two\n\n```js\nlet a = 1;\n```\n\n";
    const source = section.repeat(Math.ceil(200_000 / section.length));
    const document = new MarkdownDocument();
    let blocks = document.blocks("", false);
    for (let end = 24; end < source.length; end += 24) {
      const next = document.blocks(source.slice(0, end), false);
      expect(next[0]).toBe(blocks[0] ?? next[0]);
      if (next.length > 3) blocks = next;
    }
    expect(document.blocks(source, true).length).toBeGreaterThan(4 * 1500);
  });
});

describe("formulas", () => {
  /** The formulas of a text, in TeX; those on a line of their own in angle brackets. */
  const formulas = (source: string) => {
    const found: string[] = [];
    JSON.stringify(lex(source), (_, value) => {
      if (value?.type === "formula") found.push(value.display ? `<${value.tex}>` : value.tex);
      return value;
    });
    return found;
  };

  it.each([
    ["$a$, $b + 1$ and $5$.", ["a", "b + 1", "5"]],
    ["\\(a\\) and \\[b\\] and $$c$$", ["a", "<b>", "<c>"]],
    ["$$\na\n- b\n= c\n$$", ["<a\n- b\n= c>"]],
    ["text\n$$\na\n=\nb\n$$\ntext", ["<a\n=\nb>"]],
    [
      "\\[\n\\begin{matrix} a \\\\[4pt] b \\end{matrix}\n\\]",
      ["<\\begin{matrix} a \\\\[4pt] b \\end{matrix}>"],
    ],
    ["- $a$\n  $$\n  b\n  $$", ["a", "<b>"]],
    ["> $$\n> a\n> $$", ["<a>"]],
    ["| $a$ |\n|---|\n| \\(b\\) |", ["a", "b"]],
    ["**bold $a*b$**, *soft $c_1$*", ["a*b", "c_1"]],
    ["$\\text{5 \\$}$", ["\\text{5 \\$}"]],
    ["It costs $5 and $6.", []],
    ["From $5 to 10$ or so, US$7, 8$, $9", []],
    ["$5-$10, $1,000/month or 2$", []],
    ["echo $PATH and $HOME", []],
    ["`$a$` and\n```\n$b$\n```", []],
    ["$a `b$ c`", []],
    ["\\$a$ and $ b $", []],
    ["$$\na\n\nb\n$$", []],
    ["$a\nb$", []],
    ["\\\\(a\\\\)", []],
  ])("of %j are %j", (source, expected) => {
    expect(formulas(source)).toEqual(expected);
  });

  it("leave the emphasis around them alone", () => {
    expect(html("*a $x*y$ b* and **c `$*$` d**")).toBe(
      '<div class="markdown"><p><em>a <code class="formula-source">$x*y$</code> b</em> and ' +
        "<strong>c <code>$*$</code> d</strong></p></div>",
    );
  });

  it("show their source until they can be drawn", () => {
    expect(html("$a$")).toContain('<code class="formula-source">$a$</code>');
  });

  it.each([
    "\\href{javascript:alert(1)}{x}",
    "\\url{https://example.org}",
    "\\includegraphics{https://example.org/x.png}",
    "\\class{popover}{x}",
    "\\id{root}{x}",
    "\\style{position:fixed}{x}",
    "\\data{testid=stop}{x}",
    "\\text{<img>}",
    "\\def\\a{\\a\\a}\\a",
    "\\rule{1000em}{1000em}",
    "{".repeat(3000),
    "\\left(".repeat(600),
    "\\frac{",
  ])("%s draws nothing but a formula", (tex) => {
    let drawn = "";
    try {
      drawn = temml.renderToString(tex, LIMITS);
    } catch {
      return;
    }
    expect(drawn).not.toMatch(/href|src=|<img|data-|popover|root|fixed|\d{3,}em/);
  });
});

describe("the colours of code", () => {
  it("cover the code as it is, whatever it is", () => {
    const piece = fc.constantFrom(
      "fn a() {",
      "'\"'",
      "/* ",
      "// x\n",
      "<b>&amp;",
      "&",
      "=> 1.5",
      "é🦉",
      "\n",
      'f"{x}"',
    );
    const language = fc.constantFrom(
      "rust",
      "python",
      "js",
      "html",
      "json",
      "sh",
      "sql",
      "diff",
      "cpp",
      "yaml",
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 20 }), language, (pieces, language) => {
        const code = pieces.join("");
        const runs = runsOf(code, language) ?? [];
        expect(runs.reduce((sum, [, length]) => sum + length, 0)).toBe(code.length);
        expect(runs.every(([kind], index) => index === 0 || runs[index - 1]?.[0] !== kind)).toBe(true);
      }),
    );
  });

  it("are those of the language", () => {
    expect(runsOf('let a = "b"; // c', "ts")).toEqual([
      ["keyword", 3],
      [null, 5],
      ["string", 3],
      [null, 2],
      ["comment", 4],
    ]);
    expect(runsOf("a", "no such language")).toBeNull();
  });
});

describe("ordinary text", () => {
  it("draws what markdown means", () => {
    expect(html("a **b** *c* ~~d~~ `e`  \nf &amp; g\\*")).toBe(
      '<div class="markdown"><p>a <strong>b</strong> <em>c</em> <del>d</del> <code>e</code><br/>f &amp; g*</p></div>',
    );
    expect(html("3. x\n4. y")).toContain('<ol dir="auto" start="3"><li>x</li><li>y</li></ol>');
    expect(html("- [x] done\n- [ ] open").match(/type="checkbox"/g)).toHaveLength(2);
    expect(html("- [x] done\n\n- [ ] open")).not.toContain("[");
    expect(html("one<br>two")).toContain("<br/>");
  });
});
