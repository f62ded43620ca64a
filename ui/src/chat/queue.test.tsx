// @vitest-environment happy-dom
import { act, cleanup, fireEvent, render, screen } from "@testing-library/react";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { FinishReason, Message, Sent } from "../bridge/bindings";
import { type ReplyListener, ShellError, shell } from "../bridge/bridge";
import { undo } from "../frame/undo";
import { modelInfo } from "../models/samples";
import { useStore } from "../state/store";
import { send } from "./actions";
import { Composer } from "./Composer";
import { saveDrafts, setDraft } from "./drafts";
import { followQueue } from "./queue";

const initial = useStore.getInitialState();
const state = () => useStore.getState();

const message = (id: number, more: Partial<Message>): Message => ({
  id,
  parent: id - 1,
  role: "assistant",
  text: "",
  pictures: [],
  thinking: "",
  steps: [],
  edited: false,
  status: { state: "streaming" },
  stats: null,
  error: null,
  model: null,
  created_at: 0,
  ...more,
});

let sent: string[] = [];
let kept: string[] = [];
let replies: ReplyListener<Sent>[] = [];
followQueue();

beforeEach(() => {
  const engine = { state: "ready", model: modelInfo("/owl"), device: "gpu", in_memory: true } as const;
  useStore.setState({ ...initial, opened: true, chat: 5, engine }, true);
  [sent, kept, replies] = [[], [], []];
  vi.spyOn(shell, "send").mockImplementation(async (_to, text, _pictures, listener) => {
    sent.push(text);
    replies.push(listener);
    const id = 10 * sent.length;
    const question = message(id - 1, { role: "user", text, status: { state: "finished", reason: "stop" } });
    const added = [question, message(id, {})].map((message) => ({ message, versions: [message.id] }));
    listener.begun({ chat: 5, messages: added });
  });
  vi.spyOn(shell, "setDraftText").mockImplementation(async (chat, text) => {
    kept.push(`${chat}: ${text}`);
    return null;
  });
  vi.spyOn(shell, "setDraftFiles").mockResolvedValue(null);
  vi.spyOn(shell, "setDraftPictures").mockResolvedValue(null);
});
afterEach(() => {
  cleanup();
  vi.restoreAllMocks();
});

/** Writes a message and presses Enter. */
function write(text: string): void {
  act(() => setDraft(text));
  fireEvent.keyDown(screen.getByTestId("composer"), { key: "Enter" });
}

/** Lets the reply end that is being written. */
async function end(reason: FinishReason): Promise<void> {
  const id = 10 * replies.length;
  const ended = message(id, { text: "Hoo.", status: { state: "finished", reason } });
  await act(async () => {
    replies.at(-1)?.event(id, { type: "ended", message: ended });
    await new Promise((done) => setTimeout(done));
  });
}

const waiting = () => screen.queryAllByTestId("waiting-message").map((one) => one.firstChild?.textContent);

/** The first message is sent, and its reply is being written. */
async function asked(): Promise<void> {
  render(<Composer />);
  await act(() => send("Who?"));
}

describe("messages that are sent while a reply is written", () => {
  it("wait for it and follow in their order", async () => {
    await asked();
    write("Where?");
    write("When?");
    expect([sent, waiting(), state().drafts[5]]).toEqual([["Who?"], ["Where?", "When?"], ""]);
    await end("stop");
    expect([sent, waiting()]).toEqual([["Who?", "Where?"], ["When?"]]);
    await end("length");
    expect([sent, waiting()]).toEqual([["Who?", "Where?", "When?"], []]);
    await end("stop");
    expect(sent.length).toBe(3);
  });

  it("are kept with what is typed", async () => {
    await asked();
    write("Where?");
    act(() => setDraft("And wh"));
    await saveDrafts();
    expect(kept.at(-1)).toBe("5: Where?\n\nAnd wh");
    await end("stop");
    await saveDrafts();
    expect(kept.at(-1)).toBe("5: And wh");
  });

  it("wait on after a reply that was stopped, and say why", async () => {
    await asked();
    write("Where?");
    await end("cancelled");
    expect(sent).toEqual(["Who?"]);
    expect(screen.getByTestId("waiting").textContent).toContain("The reply was stopped.");
    vi.spyOn(shell, "send").mockRejectedValueOnce(
      new ShellError({ code: "no_model", message: "No model is loaded.", hint: "" }),
    );
    await act(async () => fireEvent.click(screen.getByTestId("send-waiting")));
    expect(screen.getByTestId("waiting").textContent).toContain("No model is loaded.");
    await act(async () => fireEvent.click(screen.getByTestId("send-waiting")));
    expect([sent, waiting()]).toEqual([["Who?", "Where?"], []]);
  });

  it("are taken back with the arrow, changed, and brought back where they were taken away", async () => {
    await asked();
    write("Where?");
    write("When?");
    fireEvent.keyDown(screen.getByTestId("composer"), { key: "ArrowUp" });
    expect([waiting(), state().drafts[5]]).toEqual([["Where?"], "When?"]);
    fireEvent.click(screen.getByTestId("drop-waiting"));
    expect(waiting()).toEqual([]);
    await act(undo);
    expect(waiting()).toEqual(["Where?"]);
    fireEvent.click(screen.getByTestId("edit-waiting"));
    expect([waiting(), state().drafts[5]]).toEqual([[], "Where?\n\nWhen?"]);
  });

  it("are sent in a chat that is not open, which shows nothing", async () => {
    await asked();
    write("Where?");
    act(() => useStore.setState({ chat: 6, messages: [] }));
    await end("stop");
    expect(sent).toEqual(["Who?", "Where?"]);
    expect(state()).toMatchObject({ chat: 6, messages: [], queued: { 5: [] } });
    expect(state().live[20]?.chat).toBe(5);
  });
});
