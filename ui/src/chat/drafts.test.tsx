import { renderToStaticMarkup } from "react-dom/server";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { AppEvent, Message, OpenedChat } from "../bridge/bindings";
import { shell } from "../bridge/bridge";
import { pinChat } from "../chatList/actions";
import { start } from "../frame/start";
import { changePreferences } from "../settings/actions";
import { setView, useStore } from "../state/store";
import { edit, leaveEdit, send } from "./actions";
import { Composer } from "./Composer";
import { saveDrafts, setDraft, setEdit } from "./drafts";
import { showChat } from "./navigation";
import { Question } from "./Question";
import { openedChat } from "./samples";

const state = () => useStore.getState();
const initial = useStore.getInitialState();
/** Components that are drawn without a document see the first state of the store. */
const first = { ...initial };
const kept: string[] = [];
const show = (opened: OpenedChat) => showChat(async () => opened);

beforeEach(() => {
  vi.useFakeTimers();
  kept.length = 0;
  useStore.setState({ ...first, opened: true }, true);
  const keep = async (about: unknown, text: unknown) => {
    kept.push(`${about}: ${text}`);
    return null;
  };
  vi.spyOn(shell, "setDraftText").mockImplementation(keep);
  vi.spyOn(shell, "setEdit").mockImplementation((message, edit) => keep(message, edit?.text));
});
afterEach(async () => {
  await saveDrafts();
  vi.useRealTimers();
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
  Object.assign(initial, first);
});

describe("what is typed", () => {
  it("is handed over before the app ends, however new it is", async () => {
    vi.stubGlobal("window", new EventTarget());
    let tell = (_: AppEvent) => {};
    vi.spyOn(shell, "watch").mockImplementation(async (onEvent) => {
      tell = onEvent;
      throw new Error("no snapshot");
    });
    const handedOver = vi.spyOn(shell, "handedOver").mockImplementation(async () => {
      kept.push("the end");
      return null;
    });
    vi.spyOn(shell, "library").mockRejectedValue(new Error("no library"));
    await start(() => false);
    setDraft("A thought");
    setEdit({ id: 3, text: "", pictures: [] }, { text: "Another" });
    tell({ type: "closing" });
    await vi.waitFor(() => expect(handedOver).toHaveBeenCalled());
    expect(kept).toEqual(["null: A thought", "3: Another", "the end"]);
  });

  it.each([
    ["of a chat", "pinChat", () => pinChat(5, true)],
    ["of the settings", "setPreferences", () => changePreferences({ zoom: 110 })],
  ] as const)("is not the end of it while a change %s is under way", async (_, command, change) => {
    vi.stubGlobal("window", new EventTarget());
    let tell = (_: AppEvent) => {};
    vi.spyOn(shell, "watch").mockImplementation(async (onEvent) => {
      tell = onEvent;
      throw new Error("no snapshot");
    });
    vi.spyOn(shell, "library").mockRejectedValue(new Error("no library"));
    const handedOver = vi.spyOn(shell, "handedOver").mockResolvedValue(null);
    let answer = (_: null) => {};
    vi.spyOn(shell, command).mockReturnValue(
      new Promise<null>((resolve) => {
        answer = resolve;
      }),
    );
    await start(() => false);
    change();
    tell({ type: "closing" });
    await vi.advanceTimersByTimeAsync(1000);
    const early = handedOver.mock.calls.length;
    answer(null);
    await vi.waitFor(() => expect(handedOver).toHaveBeenCalled());
    expect(early).toBe(0);
  });

  it("costs no more per key in a long text than in a short one", async () => {
    const long = "An owl. ".repeat(1 << 17);
    setDraft(long);
    await saveDrafts();
    kept.length = 0;
    Object.assign(initial, { ...state(), opened: true });
    const before = renderToStaticMarkup(<Composer />);
    expect(before.length).toBeLessThan(32_000);
    for (let keys = 1; keys <= 50; keys += 1) setDraft(`${long}${"x".repeat(keys)}`);
    Object.assign(initial, { ...state(), opened: true });
    // Nothing that the page draws has changed.
    expect(renderToStaticMarkup(<Composer />) === before).toBe(true);
    expect(kept).toHaveLength(0);
    await vi.advanceTimersByTimeAsync(400);
    expect(kept.map(({ length }) => length)).toEqual(["null: ".length + long.length + 50]);
  });
});

describe("an edit that is not sent", () => {
  const question: Message = {
    id: 3,
    parent: null,
    role: "user",
    text: "Who?",
    pictures: [],
    thinking: "",
    steps: [],
    edited: false,
    status: { state: "finished", reason: "stop" },
    stats: null,
    error: null,
    model: null,
    created_at: 0,
  };
  const opened = (text?: string) => ({
    ...openedChat(5, [{ message: question, versions: [3] }]),
    edits: text === undefined ? [] : [{ message: 3, text, pictures: null }],
  });
  const drawn = () => {
    Object.assign(initial, state());
    return renderToStaticMarkup(<Question message={question} />);
  };

  it("is kept like a draft, shown where it was left, and gone once it is given up", async () => {
    await show(opened("Who is it"));
    expect(drawn()).toContain("Continue editing");
    setView({ editing: 3 });
    expect(drawn()).toContain('data-text="Who is it"');
    setEdit(question, { text: "Who is it?" });
    await show(openedChat(6));
    // What this page knows is newer than what the shell has kept.
    await show(opened("Who is it"));
    expect(state().edits[3]?.text).toBe("Who is it?");
    leaveEdit(3);
    await vi.advanceTimersByTimeAsync(400);
    expect(kept).toEqual(["3: Who is it?", "3: undefined"]);
    await show(opened("Who is it"));
    expect(drawn()).not.toContain("Continue editing");
  });

  it("is given up when it is sent", async () => {
    await show(opened());
    setEdit(question, { text: "Who is it?" });
    vi.spyOn(shell, "edit").mockImplementation(async (_message, _text, _pictures, replies) =>
      replies.begun({ chat: 5, messages: [] }),
    );
    await edit(3, "Who is it?", []);
    await vi.advanceTimersByTimeAsync(400);
    expect(kept).toEqual(["3: undefined"]);
  });
});

describe("a chat that is begun among those with a tag", () => {
  it("gets the tag, so that it is listed", async () => {
    const tagged = vi.spyOn(shell, "tagChat").mockResolvedValue(null);
    vi.spyOn(shell, "send").mockImplementation(async (to, _text, _pictures, replies) =>
      replies.begun({ chat: to.chat ?? 5, messages: [] }),
    );
    await send("Hello");
    expect(tagged).not.toHaveBeenCalled();
    useStore.setState({ tag: "work" });
    await send("Hello");
    expect(tagged.mock.calls).toEqual([[5, ["work"]]]);
    useStore.setState({ chat: 6 });
    await send("Hello");
    expect(tagged).toHaveBeenCalledTimes(1);
  });
});
