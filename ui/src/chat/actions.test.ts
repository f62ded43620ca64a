import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Message, ModelInfo } from "../bridge/bindings";
import { shell } from "../bridge/bridge";
import { useStore } from "../state/store";
import { answerAgainWith, answerNow, send } from "./actions";
import { forgetDrafts, saveDrafts, setDraft, setEdit } from "./drafts";

const initial = useStore.getInitialState();
const state = () => useStore.getState();

beforeEach(() => useStore.setState({ ...initial, opened: true }, true));
afterEach(() => vi.restoreAllMocks());

describe("an engine that takes its time to end a thinking", () => {
  it("keeps nobody from asking elsewhere, and is told once", async () => {
    let end = () => {};
    const told = vi
      .spyOn(shell, "answerNow")
      .mockImplementation(() => new Promise<void>((resolve) => (end = resolve)));
    const sent = vi.spyOn(shell, "send").mockResolvedValue();
    const first = answerNow(3);
    await answerNow(3);
    await send("Elsewhere");
    expect(sent).toHaveBeenCalledTimes(1);
    end();
    await first;
    expect(told).toHaveBeenCalledTimes(1);
  });
});

describe("an answer of another model", () => {
  const loaded = (path: string) => async () => {
    useStore.setState({ selectedModel: path });
    return {} as ModelInfo;
  };

  it("is asked for once that is loaded, and the one before is loaded again when it has come", async () => {
    const opened = vi.spyOn(shell, "openModel").mockImplementation((path) => loaded(path)());
    vi.spyOn(shell, "retry").mockImplementation(async (_message, replies) => {
      expect(state().selectedModel).toBe("/bell");
      const message = { id: 7, parent: 1, role: "assistant", status: { state: "streaming" } } as Message;
      replies.begun({
        chat: 5,
        messages: [{ message: { ...message, text: "", thinking: "" }, versions: [7] }],
      });
    });
    useStore.setState({ selectedModel: "/owl", chat: 5 });
    const answered = answerAgainWith(3, "/bell");
    await vi.waitFor(() => expect(state().live[7]).toBeDefined());
    expect(opened.mock.calls).toEqual([["/bell"]]);
    useStore.setState({ live: {} });
    await answered;
    expect(opened.mock.calls).toEqual([["/bell"], ["/owl"]]);
  });

  it("is not asked for where it does not load", async () => {
    vi.spyOn(shell, "openModel").mockRejectedValue(new Error("damaged"));
    const asked = vi.spyOn(shell, "retry");
    useStore.setState({ selectedModel: "/owl", chat: 5 });
    await answerAgainWith(3, "/bell");
    expect(asked).not.toHaveBeenCalled();
  });
});

describe("what was typed in chats that are gone", () => {
  it("is forgotten, and what is typed for a new chat is not", async () => {
    const kept: unknown[] = [];
    vi.spyOn(shell, "setDraftText").mockImplementation(async (chat, text) => {
      kept.push([chat, text]);
      return null;
    });
    vi.spyOn(shell, "setEdit").mockImplementation(async (message) => {
      kept.push(message);
      return null;
    });
    setDraft("For a new chat");
    useStore.setState({ chat: 57 });
    setDraft("For one that is gone");
    setEdit({ id: 1050, text: "", pictures: [] }, { text: "Changed" });
    forgetDrafts();
    expect([state().drafts, state().edits]).toEqual([{ new: "For a new chat" }, {}]);
    await saveDrafts();
    expect(kept).toEqual([[null, "For a new chat"]]);
  });
});
