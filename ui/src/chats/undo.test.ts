import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { send } from "../actions";
import { shell } from "../bridge";
import { FOLLOWS } from "../state";
import { setView, useStore } from "../store";
import { undo } from "./actions";
import { choosePreset } from "./presets";

const state = () => useStore.getState();
const FOX = { ...FOLLOWS, system_prompt: "You are a fox." };

beforeEach(() => useStore.setState({ ...useStore.getInitialState(), chatSettings: FOX }, true));
afterEach(() => void vi.restoreAllMocks());

describe("what was done", () => {
  it("is undone once, however often that is asked for", async () => {
    const back = vi.fn(async () => {});
    setView({ note: { words: "Done.", undo: back } });
    await Promise.all([undo(), undo()]);
    expect(back).toHaveBeenCalledTimes(1);
    expect(state().note).toBe(null);
  });

  it("can be undone again where that failed, unless something was done since", async () => {
    const note = { words: "Done.", undo: () => Promise.reject(new Error("no")) };
    setView({ note });
    await undo();
    expect(state().note).toBe(note);
    const newer = { words: "More is done.", undo: null };
    const pending = undo();
    setView({ note: newer });
    await pending;
    expect(state().note).toBe(newer);
  });
});

describe("settings that a preset has replaced", () => {
  it("come back, and are kept where they could not", async () => {
    const set = vi.spyOn(shell, "setChatSettings").mockResolvedValue(null);
    useStore.setState({ chat: 5 });
    await choosePreset(null);
    const { note } = state();
    set.mockRejectedValueOnce(new Error("no"));
    await undo();
    expect(state().chatSettings).toEqual(FOLLOWS);
    expect(state().note).toBe(note);
    await undo();
    expect(state().chatSettings).toEqual(FOX);
    expect(state().note).toBe(null);
  });

  it("are kept where their chat does not open", async () => {
    vi.spyOn(shell, "setChatSettings").mockResolvedValue(null);
    vi.spyOn(shell, "openChat").mockRejectedValue(new Error("no"));
    setView({ screen: "chat" });
    useStore.setState({ chat: 5 });
    await choosePreset(null);
    const { note } = state();
    useStore.setState({ chat: 6 });
    await undo();
    expect(state().note).toBe(note);
  });

  it("cannot come back in another chat than the one that was begun", async () => {
    const set = vi.spyOn(shell, "setChatSettings").mockResolvedValue(null);
    vi.spyOn(shell, "send").mockImplementation(async (_chat, _text, replies) => {
      await undo();
      replies.begun({ chat: 5, messages: [] });
    });
    await choosePreset(null);
    expect(state().note).not.toBe(null);
    await send("Hello");
    expect(state().note).toBe(null);
    expect(set).not.toHaveBeenCalled();
  });
});
