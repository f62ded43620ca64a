import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Preset } from "../bridge/bindings";
import { shell } from "../bridge/bridge";
import { send } from "../chat/actions";
import { choosePreset, deletePreset, restorePreset } from "../chat/presets";
import { undo } from "../frame/undo";
import { DEFAULT_CHAT_SETTINGS } from "../state/server";
import { dispatch, setView, useStore } from "../state/store";

const state = () => useStore.getState();
const FOX = { ...DEFAULT_CHAT_SETTINGS, system_prompt: "You are a fox." };

beforeEach(() => useStore.setState({ ...useStore.getInitialState(), chatSettings: FOX }, true));
afterEach(() => void vi.restoreAllMocks());

describe("what was done", () => {
  it("is undone once, however often that is asked for", async () => {
    const back = vi.fn(async () => {});
    setView({ note: { text: "Done.", undo: back } });
    await Promise.all([undo(), undo()]);
    expect(back).toHaveBeenCalledTimes(1);
    expect(state().note).toBe(null);
  });

  it("can be undone again where that failed, unless something was done since", async () => {
    const note = { text: "Done.", undo: () => Promise.reject(new Error("no")) };
    setView({ note });
    await undo();
    expect(state().note).toBe(note);
    const newer = { text: "More is done.", undo: null };
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
    expect(state().chatSettings).toEqual(DEFAULT_CHAT_SETTINGS);
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
    vi.spyOn(shell, "send").mockImplementation(async (_chat, _text, _pictures, replies) => {
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

describe("a preset that was deleted", () => {
  const OWL: Preset = { id: 3, name: "Owl", system_prompt: "You are an owl.", generation: null };
  const set = { ...FOX, preset: OWL.id };

  /** The shell says which presets there are. */
  const heard = (presets: Preset[], deleted: Preset[]) =>
    dispatch({ kind: "app", event: { type: "presets", presets, deleted } });

  /** Deletes the preset while it has set this chat, and says so. */
  async function deleted(chat: number | null) {
    vi.spyOn(shell, "deletePreset").mockResolvedValue(null);
    heard([OWL], []);
    useStore.setState({ chat, chatSettings: set });
    await deletePreset(OWL);
    heard([], [OWL]);
    expect(state().chatSettings).toEqual(FOX);
  }

  it("can be brought back when another note has taken the place of its own", async () => {
    await deleted(5);
    setView({ note: { text: "More is done.", undo: null } });
    expect(state().deletedPresets).toEqual([OWL]);
    const restore = vi.spyOn(shell, "restorePreset").mockResolvedValue([5, 6]);
    await restorePreset(OWL.id);
    heard([OWL], []);
    expect(restore).toHaveBeenCalledWith(OWL.id);
    expect(state().chatSettings).toEqual(set);
    expect(state().deletedPresets).toEqual([]);
  });

  it("sets no chat again that has another since, or that it did not set", async () => {
    await deleted(5);
    vi.spyOn(shell, "restorePreset").mockResolvedValue([5]);
    useStore.setState({ chatSettings: { ...FOX, preset: 4 } });
    await undo();
    expect(state().chatSettings.preset).toBe(4);
    useStore.setState({ chat: 6, chatSettings: FOX });
    await restorePreset(OWL.id);
    expect(state().chatSettings).toEqual(FOX);
  });

  it("sets the chat again that is not begun yet, and no later one", async () => {
    vi.spyOn(shell, "restorePreset").mockResolvedValue([]);
    await deleted(null);
    await undo();
    expect(state().chatSettings).toEqual(set);
    await deleted(null);
    useStore.setState(({ navigation }) => ({
      navigation: { ...navigation, current: navigation.current + 1 },
    }));
    await undo();
    expect(state().chatSettings).toEqual(FOX);
  });
});
