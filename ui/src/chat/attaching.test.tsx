import { renderToStaticMarkup } from "react-dom/server";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { ATTACHMENT_BYTES, ATTACHMENT_FILES, type Attached, type Attachment } from "../bridge/bindings";
import { ShellError, shell } from "../bridge/bridge";
import { setView, useStore } from "../state/store";
import { send } from "./actions";
import { attachDropped, chooseAttachments, dropPendingFiles } from "./attaching";
import { Composer } from "./Composer";
import { setDraft } from "./drafts";
import { awaitedFiles } from "./view";

const state = () => useStore.getState();
const initial = useStore.getInitialState();
/** Components that are drawn without a document see the first state of the store. */
const first = { ...initial };

beforeEach(() => {
  useStore.setState({ ...first, opened: true }, true);
  vi.spyOn(shell, "setDraftText").mockResolvedValue(null);
  vi.spyOn(shell, "setDraftFiles").mockResolvedValue(null);
});
afterEach(() => {
  vi.restoreAllMocks();
  Object.assign(initial, first);
});

/** A promise that the test fulfils. */
function promised<T>() {
  let [resolve, reject]: [(value: T) => void, (error: unknown) => void] = [() => {}, () => {}];
  const promise = new Promise<T>((...ends) => {
    [resolve, reject] = ends;
  });
  return { promise, resolve, reject };
}

/** A file whose reading ends when the test says so. */
function pending() {
  const { promise, resolve, reject } = promised<Attached>();
  vi.spyOn(shell, "attachDropped").mockReturnValue(promise);
  return { done: (...names: string[]) => resolve(attached(...names.map(file))), fail: reject };
}
const attached = (...files: Attachment[]): Attached => ({ files, pictures: [], notes: [] });
const file = (name: string): Attachment => ({ name, text: "Hoo." });
const names = (chat: string) => (state().attached[chat] ?? []).map(({ name }) => name);

describe("a file that is being read", () => {
  it("holds its message, which is sent with it", async () => {
    const file = pending();
    setDraft("What is it?");
    const done = attachDropped(["/home/ines/story.txt"]);
    expect(awaitedFiles(state()).map(({ name }) => name)).toEqual(["story.txt"]);
    const held = renderToStaticMarkup(<Composer />);
    Object.assign(initial, state());
    const waiting = renderToStaticMarkup(<Composer />);
    expect(held).not.toContain("being read");
    expect(waiting).toContain("story.txt");
    expect(waiting).toMatch(
      /aria-disabled="true"[^>]*aria-label="Send"|data-testid="send"[^>]*aria-disabled/,
    );
    expect(waiting).toContain("A file is still being read.");

    file.done("story.txt");
    await done;
    expect(names("new")).toEqual(["story.txt"]);
    Object.assign(initial, state());
    expect(renderToStaticMarkup(<Composer />)).not.toContain("A file is still being read.");
  });

  it("stays with its chat when another one is opened, and so does the reason why it cannot be read", async () => {
    useStore.setState({ chat: 5 });
    const story = pending();
    const done = attachDropped(["/story.txt"]);
    useStore.setState({ chat: 6 });
    expect(awaitedFiles(state())).toEqual([]);
    story.done("story.txt");
    await done;
    expect([names("5"), names("6"), names("new")]).toEqual([["story.txt"], [], []]);

    useStore.setState({ chat: 5 });
    const owl = pending();
    const failing = attachDropped(["/owl.png"]);
    useStore.setState({ chat: 6 });
    setView({ actionError: null, note: null });
    owl.fail(
      new ShellError({ code: "attachment_not_text", message: "owl.png is not a text file.", hint: "" }),
    );
    await failing;
    expect(state().actionError).toBe(null);
    expect(state().note?.text).toContain("owl.png is not a text file.");
    expect(state().pendingFiles).toEqual([]);
  });

  it("goes along with the chat that a new one becomes, as what is typed meanwhile does", async () => {
    const story = pending();
    const sending = promised<void>();
    vi.spyOn(shell, "send").mockImplementation(async (_chat, _text, _pictures, replies) => {
      await sending.promise;
      replies.begun({ chat: 7, messages: [] });
      useStore.setState({ chat: 7 });
    });
    setDraft("Hello");
    const sent = send("Hello");
    const done = attachDropped(["/story.txt"]);
    setDraft("Hello, and this:");
    sending.resolve();
    await sent;
    story.done("story.txt");
    await done;
    expect([names("7"), names("new")]).toEqual([["story.txt"], []]);
    expect([state().drafts["7"], state().drafts.new]).toEqual(["Hello, and this:", ""]);
  });

  it("is not attached once it is taken away, and says nothing more", async () => {
    const story = pending();
    const done = attachDropped(["/story.txt"]);
    dropPendingFiles(awaitedFiles(state())[0]?.id ?? 0);
    story.fail(new Error("no"));
    await done;
    expect([names("new"), state().actionError]).toEqual([[], null]);
  });

  it("is waited for once it is chosen, not while the dialog is open", async () => {
    const chosen = promised<void>();
    const read = promised<Attached>();
    vi.spyOn(shell, "chooseAttachments").mockImplementation(async (_chat, _pictures, onChosen) => {
      await chosen.promise;
      onChosen(["a.txt", "b.txt"]);
      return read.promise;
    });
    const done = chooseAttachments();
    expect(awaitedFiles(state())).toEqual([]);
    chosen.resolve();
    await vi.waitFor(() => expect(awaitedFiles(state()).map(({ name }) => name)).toEqual(["2 files"]));
    read.resolve(attached(file("a.txt"), file("b.txt")));
    await done;
    expect(names("new")).toEqual(["a.txt", "b.txt"]);
  });
});

describe("the files of one message", () => {
  it("are bounded together, however many times some are added", async () => {
    const add = async (...files: Attachment[]) => {
      vi.spyOn(shell, "attachDropped").mockResolvedValue(attached(...files));
      await attachDropped(files.map(({ name }) => `/${name}`));
      return state().actionError?.code;
    };
    // Half of the bytes in a third of the letters.
    const half = { name: "half", text: "猫".repeat(ATTACHMENT_BYTES / 6) };
    expect(await add(half)).toBe(undefined);
    expect(await add(half, file("one"))).toBe("attachment_too_large");
    expect(names("new")).toEqual(["half"]);
    setView({ actionError: null });
    const many = Array.from({ length: ATTACHMENT_FILES }, (_, index) => file(`${index}`));
    expect(await add(...many)).toBe("attachments_too_many");
    expect(names("new")).toEqual(["half"]);
  });
});
