import { renderToStaticMarkup } from "react-dom/server";
import { beforeEach, describe, expect, it, vi } from "vitest";
import type { Attachment } from "../bridge/bindings";
import { shell } from "../bridge/bridge";
import { splitFiles, withFiles } from "./attachments";
import { FileChips, Files } from "./Files";
import { inPart, longFiles, marked, passagesOf, withPassages } from "./longFiles";

const file = (name: string, tokens: number): Attachment => ({ name, text: "word".repeat(tokens) });
const names = (files: Attachment[]) => files.map(({ name }) => name);
const PASSAGES = [
  { place: "Page 3", text: "The owl’s bell\n\nrang [at seven]." },
  { place: "Hearing, lines 4–9", text: "Owls hear." },
];

beforeEach(() => {
  vi.restoreAllMocks();
});

describe("files that are longer than what the context has room for", () => {
  it("are those that do not fit beside the shorter ones", () => {
    const files = [file("book", 9000), file("note", 100), file("paper", 2000)];
    expect(names(longFiles(files, 20_000, []).files)).toEqual([]);
    expect(names(longFiles(files, 8000, []).files)).toEqual(["book"]);
    expect(names(longFiles(files, 1000, []).files)).toEqual(["paper", "book"]);
    expect(names(longFiles(files, null, []).files)).toEqual([]);
    expect(names(longFiles(files, 20_000, [undefined, 16_000]).files)).toEqual(["note"]);
  });

  it("share a part of what is left, and never too little", () => {
    const files = [file("book", 900_000), file("note", 100)];
    const some = longFiles(files, 8000, []).tokens;
    expect(some).toBeGreaterThan(2500);
    expect(some).toBeLessThan(3000);
    expect(longFiles([file("one", 9000), file("other", 9000)], 8000, []).tokens).toBe(1500);
    expect(longFiles([file("book", 900_000)], 200_000, []).tokens).toBe(8000);
    expect(longFiles(files, 0, []).tokens).toBe(400);
  });

  it("go with a question as the passages that fit it, and the others as they are", async () => {
    const asked = vi.spyOn(shell, "passages").mockResolvedValue(PASSAGES);
    const [book, note] = [file("book", 9000), file("note", 10)];
    const sent = await inPart([book, note], { files: [book], tokens: 500 }, "When did it ring?");
    expect(asked.mock.calls).toEqual([[book.text, "When did it ring?", 500]]);
    expect(names(sent)).toEqual(["book", "note"]);
    expect(sent[1]).toBe(note);
    const kept = splitFiles(withFiles("When did it ring?", sent)).files;
    expect(kept.map(passagesOf)).toEqual([PASSAGES, []]);
  });

  it("say so before they are sent, and that they went in part", () => {
    const book = file("book.pdf", 9000);
    const before = renderToStaticMarkup(<FileChips files={[book]} tokens={[9000]} long={[book]} />);
    expect(before).toContain("long: the parts that fit the question are read");
    const after = renderToStaticMarkup(
      <Files files={[{ name: "book.pdf", text: withPassages(PASSAGES) }]} />,
    );
    expect(after).toContain("in part");
    expect(after).toContain("Page 3\nHearing, lines 4–9");
  });
});

describe("a passage", () => {
  it("has the words that were asked for marked, but for their endings", () => {
    const shown = marked("Owls’ bells rang at seven.", "When did the owl's bell ring at Seven?");
    expect(shown.map(({ text }) => text).join("")).toBe("Owls’ bells rang at seven.");
    const words = (pieces: typeof shown) => pieces.filter(({ marked }) => marked).map(({ text }) => text);
    expect(words(shown)).toEqual(["Owls", "bells", "seven"]);
    const river = "The river goes on. ".repeat(9);
    expect(words(marked(`${river}The owl rings.`, "When does the owl ring?"))).toEqual(["owl", "rings"]);
  });
});
