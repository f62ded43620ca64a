import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { shell } from "../bridge/bridge";
import { useStore } from "../state/store";
import { answerNow, send } from "./actions";
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
