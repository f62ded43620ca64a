import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Attachment, ChatSummary, Message } from "../bridge/bindings";
import { shell } from "../bridge/bridge";
import { useStore } from "../state/store";
import { followFiles, followPictures, followText, saveDrafts, setDraft, setQueued } from "./drafts";
import { branchChat, followChat, newChat, openChat } from "./navigation";
import { takeAllBack } from "./queue";
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
  steps: [],
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
  it("is shown here: its messages and its settings, and a reply is followed, also where it is begun anew", async () => {
    const reply = message(2, { parent: 1, role: "assistant", text: "", status: { state: "streaming" } });
    const opened = openedChat(
      5,
      [message(1), reply].map((message) => ({ message, versions: [message.id] })),
    );
    opened.settings.system_prompt = "Be brief.";
    vi.spyOn(shell, "readChat").mockResolvedValue(opened);
    const attached = vi
      .spyOn(shell, "attach")
      .mockImplementation(async (_id, listener) => listener.begun(reply));
    await followChat(5);
    await vi.waitFor(() => expect(state().live[2]).toBeDefined());
    expect(state().messages.map(({ id }) => id)).toEqual([1, 2]);
    expect(state().chatSettings.system_prompt).toBe("Be brief.");
    await followChat(5);
    expect(attached).toHaveBeenCalledTimes(2);
  });

  it("is read one answer at a time, and once more where something came meanwhile", async () => {
    const answers: (() => void)[] = [];
    const titled = (title: string) => {
      const opened = openedChat(5);
      opened.chat.title = title;
      return opened;
    };
    const read = vi
      .spyOn(shell, "readChat")
      .mockImplementation(
        () => new Promise((done) => answers.push(() => done(titled(`Answer ${answers.length}`)))),
      );
    const followed = followChat(5);
    await vi.waitFor(() => expect(answers.length).toBe(1));
    await followChat(5);
    expect(read).toHaveBeenCalledTimes(1);
    answers[0]?.();
    await vi.waitFor(() => expect(answers.length).toBe(2));
    answers[1]?.();
    await followed;
    expect([read.mock.calls.length, state().about?.title]).toEqual([2, "Answer 2"]);
  });

  it("does not undo what was done here while the answer was on its way", async () => {
    const read = vi.spyOn(shell, "readChat").mockImplementation(async () => {
      if (read.mock.calls.length === 1) useStore.setState({ messages: [message(7)] });
      return openedChat(5, read.mock.calls.length === 1 ? [] : [{ message: message(7), versions: [7] }]);
    });
    await followChat(5);
    expect([read.mock.calls.length, state().messages.length]).toEqual([2, 1]);
  });

  it("is not asked for where the chat is not shown", async () => {
    const read = vi.spyOn(shell, "readChat");
    await followChat(6);
    expect(read).not.toHaveBeenCalled();
  });
});

describe("what is attached in another window", () => {
  const file = { name: "owl.txt", text: "An owl" } as Attachment;

  it("is shown here, also in a chat that is not open", () => {
    followFiles(6, [file]);
    followPictures(6, [picture("owl")]);
    expect([state().attached[6]?.length, state().pictures[6]?.length]).toEqual([1, 1]);
  });

  it("is kept behind what waits here, which no other window shows", async () => {
    setQueued(5, [{ id: 1, text: "Where?", files: [file], pictures: [] }]);
    const own = { ...file, name: "bell.txt" };
    followFiles(5, [own]);
    await saveDrafts();
    expect(state().attached[5]).toEqual([own]);
    expect(vi.mocked(shell.setDraftFiles).mock.calls.at(-1)).toEqual([5, [file, own], 1]);
  });
});

describe("a window that closes", () => {
  it("makes a draft of what waits", async () => {
    setDraft("And");
    setQueued(5, [
      { id: 1, text: "Where?", files: [], pictures: [picture("owl")] },
      { id: 2, text: "When?", files: [], pictures: [] },
    ]);
    takeAllBack();
    await saveDrafts();
    const text = "Where?\n\nWhen?\n\nAnd";
    expect([state().queued[5], state().pictures[5]?.length]).toEqual([[], 1]);
    expect(kept.at(-1)).toEqual([5, text, text]);
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
