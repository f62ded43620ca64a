import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { ChatSummary, Message } from "../bridge/bindings";
import { shell } from "../bridge/bridge";
import { useStore } from "../state/store";
import { followText, saveDrafts, setDraft, setQueued } from "./drafts";
import { branchChat, followChat, newChat, openChat } from "./navigation";
import { chatSummary, openedChat, picture } from "./samples";

const initial = useStore.getInitialState();
const state = () => useStore.getState();

const message = (id: number, more: Partial<Message> = {}): Message => ({
  id,
  parent: null,
  role: "user",
  text: "Who hoots?",
  pictures: [],
  thinking: "",
  edited: false,
  status: { state: "finished", reason: "stop" },
  stats: null,
  error: null,
  model: null,
  created_at: 0,
  ...more,
});

let kept: unknown[] = [];

beforeEach(() => {
  useStore.setState({ ...initial, opened: true, chat: 5 }, true);
  kept = [];
  vi.spyOn(shell, "setDraftText").mockImplementation(async (...given) => {
    kept.push(given);
    return null;
  });
  vi.spyOn(shell, "setDraftFiles").mockResolvedValue(null);
  vi.spyOn(shell, "setDraftPictures").mockResolvedValue(null);
});
afterEach(async () => {
  await saveDrafts();
  vi.restoreAllMocks();
});

describe("what another window does with a chat", () => {
  it("is shown here: its messages, its settings and what is attached, and a reply is followed", async () => {
    const reply = message(2, { parent: 1, role: "assistant", text: "", status: { state: "streaming" } });
    const opened = openedChat(
      5,
      [message(1), reply].map((message) => ({ message, versions: [message.id] })),
    );
    opened.settings.system_prompt = "Be brief.";
    opened.draft.pictures = [picture("owl")];
    vi.spyOn(shell, "readChat").mockResolvedValue(opened);
    const attached = vi
      .spyOn(shell, "attach")
      .mockImplementation(async (_id, listener) => listener.begun(reply));
    await followChat(5);
    await vi.waitFor(() => expect(state().live[2]).toBeDefined());
    expect(state().messages.map(({ id }) => id)).toEqual([1, 2]);
    expect([state().chatSettings.system_prompt, state().pictures[5]?.length]).toEqual(["Be brief.", 1]);
    await followChat(5);
    expect(attached, "once").toHaveBeenCalledTimes(1);
  });

  it("is asked for where the chat is not shown once it is opened", async () => {
    const read = vi.spyOn(shell, "readChat");
    useStore.setState({ attached: { 6: [], 5: [] }, pictures: { 6: [picture("owl")] } });
    await followChat(6);
    expect(read).not.toHaveBeenCalled();
    expect([state().attached, state().pictures]).toEqual([{ 5: [] }, {}]);
  });
});

describe("what is typed in another window", () => {
  it("is shown here, unless something newer is typed here", async () => {
    followText(5, "An owl");
    expect(state().drafts[5]).toBe("An owl");
    setDraft("An owl hoots");
    followText(5, "An owl s");
    expect(state().drafts[5]).toBe("An owl hoots");
    await saveDrafts();
    followText(5, "An owl sleeps");
    expect(state().drafts[5]).toBe("An owl sleeps");
    await saveDrafts();
    expect(kept).toEqual([[5, "An owl hoots", "An owl hoots"]]);
  });

  it("is kept together with what waits here, and told without that", async () => {
    setQueued(5, [{ id: 1, text: "Where?", files: [], pictures: [] }]);
    followText(5, "An owl");
    expect(state().drafts[5]).toBeUndefined();
    await saveDrafts();
    followText(5, "An owl");
    await saveDrafts();
    expect(kept.at(-1)).toEqual([5, "Where?\n\nAn owl", "An owl"]);
    const times = kept.length;
    followText(5, "An owl");
    await saveDrafts();
    expect(kept.length, "nothing is told back and forth").toBe(times);
  });
});

describe("a window that shows one chat alone", () => {
  beforeEach(() => useStore.setState({ alone: 5, chats: [chatSummary(6) as ChatSummary] }));

  it("leads to other chats in the main window", async () => {
    const [went, done] = [vi.spyOn(shell, "goOnInWindow"), vi.spyOn(shell, "act")];
    went.mockResolvedValue(null);
    done.mockResolvedValue(null);
    await openChat(6);
    await newChat();
    expect([went.mock.calls, done.mock.calls]).toEqual([[[6]], [["new_chat"]]]);
    expect(state().chat).toBe(5);
  });

  it("branches into another window", async () => {
    vi.spyOn(shell, "branchChat").mockResolvedValue(openedChat(9));
    const opened = vi.spyOn(shell, "openChatWindow").mockResolvedValue(null);
    expect(await branchChat(3)).toBe(true);
    expect(opened.mock.calls).toEqual([[9]]);
    expect(state().chat).toBe(5);
  });
});
