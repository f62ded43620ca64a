import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { ErrorReport, ImportReport } from "../bridge/bindings";
import { shell } from "../bridge/bridge";
import { setView, useStore } from "../state/store";
import { exportChats, exportLabel, goOnExporting, importChats } from "./files";

const state = () => useStore.getState();
const NOTHING: ImportReport = { chats: 0, messages: 0, left_out: 0, missing_pictures: 0 };

beforeEach(() => {
  useStore.setState(useStore.getInitialState(), true);
  vi.spyOn(shell, "chatPage").mockResolvedValue({ chats: [], next: null, total: 0 });
});
afterEach(() => void vi.restoreAllMocks());

const refused = (name: string): ErrorReport => ({
  code: "not_importable",
  message: `${name} cannot be imported.`,
  hint: "Choose another.",
});

/** Imports so many files, of which these are refused. */
async function importing(files: number, added: ImportReport, ...names: string[]) {
  const ask = vi.spyOn(shell, "importChats").mockResolvedValue({ added, refused: names.map(refused) });
  const paths = Array.from({ length: files }, (_, index) => `/home/ines/${index}.json`);
  await importChats(paths);
  expect(ask.mock.calls.at(-1)).toEqual([paths]);
  return { note: state().note?.text, error: state().actionError };
}

describe("an import", () => {
  it("of several files says what came in from all of them", async () => {
    const { note, error } = await importing(3, { ...NOTHING, chats: 4, messages: 12 });
    expect(note).toBe("4 chats with 12 messages added from 3 files.");
    expect(error).toBe(null);
  });

  it("says of each file that was refused why, beside what came in", async () => {
    const { note, error } = await importing(3, { ...NOTHING, chats: 1, messages: 2 }, "a.json", "b.json");
    expect(note).toBe(undefined);
    expect(error?.message.split("\n")).toEqual(["a.json cannot be imported.", "b.json cannot be imported."]);
    expect(error?.hint).toBe("1 chat with 2 messages added. Choose another.");
  });

  it("that adds nothing says only why", async () => {
    const { error } = await importing(1, NOTHING, "a.json");
    expect(error?.message).toBe("a.json cannot be imported.");
  });

  it("names a few of very many files that were refused, and counts the others", async () => {
    const names = Array.from({ length: 9 }, (_, index) => `${index}.json`);
    const { error } = await importing(9, NOTHING, ...names);
    expect(error?.message.split("\n")).toHaveLength(6);
    expect(error?.message).toContain("4 more files could not be imported either.");
  });

  it("says all of it in the note where the person has gone on to another screen", async () => {
    vi.spyOn(shell, "chatPage").mockImplementation(async () => {
      setView({ screen: "models" });
      return { chats: [], next: null, total: 0 };
    });
    const { note, error } = await importing(2, { ...NOTHING, chats: 1, messages: 2 }, "a.json");
    expect(error).toBe(null);
    expect(note).toContain("1 chat with 2 messages added.");
    expect(note).toContain("a.json cannot be imported.");
  });
});

describe("an export", () => {
  const report = { pictures: 2, views: 0, missing: 0 };

  it("is written at once where there are no pictures", async () => {
    vi.spyOn(shell, "sizeOfExportedPictures").mockResolvedValue({ bytes: 0 });
    const write = vi.spyOn(shell, "exportChats").mockResolvedValue({ path: "/a.json", report });
    await exportChats(3, "json");
    expect(write.mock.calls).toEqual([[3, "json", "left_out"]]);
    expect([state().exporting, state().note?.text]).toEqual([null, "Exported to /a.json"]);
  });

  it("asks what becomes of pictures, and goes on or is given up", async () => {
    vi.spyOn(shell, "sizeOfExportedPictures").mockResolvedValue({ bytes: 2e6 });
    const write = vi.spyOn(shell, "exportChats").mockResolvedValue(null);
    await exportChats(null, "json");
    expect(state().exporting).toEqual({ chat: null, format: "json", pictureBytes: 2e6 });
    await goOnExporting(null);
    expect([state().exporting, write.mock.calls]).toEqual([null, []]);
    await exportChats(null, "json");
    await goOnExporting("as_they_are");
    expect(write.mock.calls).toEqual([[null, "json", "as_they_are"]]);
    expect(state().note).toBe(null);
  });

  it("says what of its pictures is not as it was", () => {
    expect(exportLabel({ path: "/a.md", report: { pictures: 3, views: 1, missing: 2 } })).toBe(
      "Exported to /a.md\n1 picture as a smaller copy, without what its file tells.\n2 pictures missing: the file is gone.",
    );
  });
});
