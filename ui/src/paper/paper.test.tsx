// @vitest-environment happy-dom
import { render } from "@testing-library/react";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { Message, OpenedChat } from "../bridge/bindings";
import { shell } from "../bridge/bridge";
import { Markdown } from "../markdown/Markdown";
import { copySelectionWithForm } from "./copying";
import { fileOf } from "./document";
import { paperOf } from "./paper";
import { withoutMarks } from "./plain";
import { html, portable } from "./portable";

afterEach(() => {
  document.body.replaceChildren();
  vi.restoreAllMocks();
});

/** A text as the page draws it, made portable. */
function drawn(text: string): string {
  const { container, unmount } = render(<Markdown text={text} complete />);
  const made = html(portable(container));
  unmount();
  return made;
}

describe("a reply in other programs", () => {
  it("keeps headings, marks, lists, tables, code and links, and nothing of the page", () => {
    expect(drawn("# One\n\nA **b** *c* ~~d~~ `e`\n\n#### Four")).toBe(
      "<h1>One</h1><p>A <strong>b</strong> <em>c</em> <del>d</del> <code>e</code></p><h4>Four</h4>",
    );
    expect(drawn("3. a\n4. b\n   - c")).toBe(
      '<ol dir="auto" start="3"><li>a</li><li>b<ul dir="auto"><li>c</li></ul></li></ol>',
    );
    expect(drawn("- [x] a\n- [ ] b")).toBe('<ul dir="auto"><li>☑ a</li><li>☐ b</li></ul>');
    expect(drawn("| a | b |\n|---|--:|\n| 1 | 2 |")).toBe(
      '<table dir="auto"><thead><tr><th>a</th><th align="right">b</th></tr></thead>' +
        '<tbody><tr><td>1</td><td align="right">2</td></tr></tbody></table>',
    );
    expect(drawn("```\nlet a = 1 < 2;\n```")).toBe("<pre><code>let a = 1 &lt; 2;</code></pre>");
    expect(drawn("[x](https://example.org/a)")).toBe('<p><a href="https://example.org/a">x</a></p>');
  });

  it("is text where a model wrote markup, and leads nowhere that a link may not", () => {
    const hostile = [
      "<script>alert(1)</script> <img src=x onerror=alert(1)> <b>bold</b>",
      "[a](javascript:alert(1)) [b](data:text/html,x) [c](vbscript:x) [d](file:///etc/passwd)",
      "![e](https://example.org/pixel.png)",
      '[f](https://example.org/"onmouseover="alert(1))',
      "```\n<script>alert(1)</script>\n```",
      '$\\href{javascript:alert(1)}{x}$ $\\class{y\\"onclick=}{z}$',
    ].join("\n\n");
    const place = document.createElement("div");
    place.innerHTML = drawn(hostile);
    expect(place.querySelectorAll("script, img, b, iframe, style, object").length).toBe(0);
    expect([...place.querySelectorAll("[href], [src]")].map((link) => link.getAttribute("href"))).toEqual(
      [...place.querySelectorAll("a")].map((link) => link.getAttribute("href")),
    );
    for (const link of place.querySelectorAll("a")) expect(link.getAttribute("href")).toMatch(/^https:/);
    for (const element of place.querySelectorAll("*"))
      for (const name of element.getAttributeNames()) expect(name).not.toMatch(/^(?:on|style|class)/);
    expect(place.textContent).toContain("<script>alert(1)</script>");
  });

  it("makes nothing of elements that it does not know, however they came to the page", () => {
    const page = document.createElement("div");
    for (const tag of ["script", "style", "iframe", "form", "svg", "object"]) {
      const element = document.createElement(tag);
      element.setAttribute("onload", "alert(1)");
      element.append(`in ${tag}`);
      page.append(element);
    }
    const image = document.createElement("img");
    image.setAttribute("src", "https://example.org/x.png");
    const link = document.createElement("span");
    link.className = "link";
    link.title = "javascript:alert(1)";
    link.append("there");
    page.append(image, link);
    const made = document.createElement("div");
    made.append(portable(page));
    expect([...made.querySelectorAll("*")].map((element) => element.outerHTML)).toEqual(["<img>"]);
    expect(made.textContent).toContain("there");
  });

  it("is copied with its form where a part of it is selected", () => {
    copySelectionWithForm();
    const { container } = render(<Markdown text={"- one **two**\n- three\n\n`four five`"} complete />);
    const copied = (from: Node, to: Node, start = 0, end = (to as Text).length) => {
      const range = document.createRange();
      range.setStart(from, start);
      range.setEnd(to, end);
      document.getSelection()?.removeAllRanges();
      document.getSelection()?.addRange(range);
      const clipboardData = new DataTransfer();
      const event = new Event("copy", { bubbles: true, cancelable: true });
      Object.assign(event, { clipboardData });
      document.body.dispatchEvent(event);
      return clipboardData.getData("text/html");
    };
    const [first, second] = container.querySelectorAll("li");
    const code = container.querySelector("p code")?.firstChild as Text;
    expect(copied(first?.firstChild as Text, second?.firstChild as Text)).toBe(
      '<ul dir="auto"><li>one <strong>two</strong></li><li>three</li></ul>',
    );
    expect(copied(code, code, 0, 4)).toBe("<code>four</code>");
    const outside = document.body.appendChild(document.createElement("p"));
    outside.append("outside");
    expect(copied(outside.firstChild as Text, outside.firstChild as Text)).toBe("");
  });
});

describe("a reply as plain text", () => {
  it("has no marks, and its lists, tables and code as they read", () => {
    const text =
      "# A *b*\n\nc **d** `e` [f](https://example.org)\ng\n\n1. one\n2. two\n   - three\n\n- [x] done\n\n" +
      "> said\n\n| h | i |\n|---|---|\n| 1 | 2 |\n\n---\n\n```\nx = '**'\n```\n\n$x^2$";
    expect(withoutMarks(text)).toBe(
      "A b\n\nc d e f\ng\n\n1. one\n2. two\n   • three\n\n• ☑ done\n\nsaid\n\nh\ti\n1\t2\n\nx = '**'\n\n$x^2$",
    );
  });
});

const message = (role: Message["role"], text: string, more: object = {}) => ({
  message: { role, text, thinking: "", pictures: [], ...more },
  versions: null,
});

const chat = (...messages: ReturnType<typeof message>[]) =>
  ({
    chat: { title: "Owls </title><script>alert(1)</script>" },
    settings: { system_prompt: "Be <b>brief</b>.\nAlways." },
    messages,
  }) as unknown as OpenedChat;

describe("a chat in a file of its own", () => {
  it("holds all that was said, as text, and lets nothing run or be fetched", async () => {
    vi.spyOn(shell, "pictureView").mockResolvedValue("data:image/png;base64,AA==");
    const picture = { hash: "a", name: "owl.png", missing: false };
    const asked = "See <script>alert(1)</script>\nand this.\n\nFile: a.txt\n```\n<img src=x>\n```";
    const all = chat(
      message("user", asked, { pictures: [picture, { ...picture, hash: "b", missing: true }] }),
      message("assistant", "## Two\n\n$x$ and **bold**", { thinking: "Hm. <b>", model: "Owl" }),
    );
    const paper = await paperOf(all, { pictures: true, thinking: true });
    const file = fileOf(paper, all.chat.title);
    const read = new DOMParser().parseFromString(file, "text/html");
    expect(read.title).toBe(all.chat.title);
    expect(read.querySelectorAll("script, iframe, object, b, link").length).toBe(0);
    const policy = read.querySelector("meta[http-equiv]")?.getAttribute("content") ?? "";
    expect(policy).toContain("default-src 'none'");
    expect(read.querySelector("h1")?.textContent).toBe(all.chat.title);
    expect([...read.querySelectorAll(".speaker")].map((speaker) => speaker.textContent)).toEqual([
      "What it should always know",
      "You",
      "Owl",
    ]);
    const own = [...read.querySelectorAll(".own")].map((words) => words.innerHTML);
    expect(own).toEqual([
      "Be &lt;b&gt;brief&lt;/b&gt;.<br>Always.",
      "See &lt;script&gt;alert(1)&lt;/script&gt;<br>and this.",
    ]);
    expect([...read.querySelectorAll("img")].map((image) => image.getAttribute("src"))).toEqual([
      "data:image/png;base64,AA==",
    ]);
    expect(read.body.textContent).toContain("Picture: owl.png");
    expect(read.body.textContent).toContain("File: a.txt");
    expect(read.querySelector("details")?.textContent).toContain("Hm. <b>");
    expect(read.querySelector("h3")?.textContent).toBe("Two");
  });

  it("leaves out what is not to go along", async () => {
    const view = vi.spyOn(shell, "pictureView");
    const picture = { hash: "a", name: "owl.png", missing: false };
    const all = chat(
      message("user", "Look.", { pictures: [picture] }),
      message("assistant", "An owl.", { thinking: "A secret" }),
    );
    const paper = await paperOf(all, { pictures: false, thinking: false });
    expect(view).not.toHaveBeenCalled();
    expect(paper.querySelector("img, details")).toBe(null);
    expect(paper.textContent).toContain("Picture: owl.png");
    expect(paper.textContent).not.toContain("A secret");
  });
});
