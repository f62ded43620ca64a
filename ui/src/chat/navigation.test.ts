import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type Deletion, FIRST_TEMPORARY, type Message, type OpenedChat, type Sent } from "../bridge/bindings";
import { type ReplyListener, ShellError, shell } from "../bridge/bridge";
import { listChats, pinChat, renameChat } from "../chatList/actions";
import { bringBack, deleteMessage } from "../chatList/deleting";
import { undo } from "../frame/undo";
import { DEFAULT_CHAT_SETTINGS } from "../state/server";
import { dispatch, setView, useStore } from "../state/store";
import { send } from "./actions";
import { keepChat, newChat, newTemporaryChat, openChat } from "./navigation";
import { addPreset } from "./presets";
import { chatSummary, openedChat } from "./samples";

const state = () => useStore.getState();
const FOX = { ...DEFAULT_CHAT_SETTINGS, system_prompt: "You are a fox." };

/** An answer that comes when the test says so. */
function later<T>() {
  let answer!: (value: T) => void;
  let refuse!: (error: unknown) => void;
  const promise = new Promise<T>((resolve, reject) => {
    answer = resolve;
    refuse = reject;
  });
  return { promise, answer, refuse };
}

/** Lets everything happen that waits for nothing more. */
const rest = () => new Promise((done) => setTimeout(done));

/** Each chat opens when the test says so. */
function chatsToOpen(...chats: number[]) {
  const doors = new Map(chats.map((chat) => [chat, later<OpenedChat>()]));
  const open = vi.spyOn(shell, "openChat");
  open.mockImplementation(async (_, chat) => doors.get(chat)?.promise ?? openedChat(chat));
  return { open, enter: (chat: number) => doors.get(chat)?.answer(openedChat(chat)) };
}

/** What is sent begins when the test says so. */
function sending() {
  const began = later<Sent>();
  const sent = vi.spyOn(shell, "send");
  sent.mockImplementation(async (_to, _text, _pictures, replies: ReplyListener<Sent>) =>
    replies.begun(await began.promise),
  );
  const reply = {
    id: 2,
    parent: null,
    role: "assistant" as const,
    text: "",
    pictures: [],
    thinking: "",
    steps: [],
    edited: false,
    status: { state: "streaming" as const },
    stats: null,
    error: null,
    model: null,
    created_at: 0,
  };
  const begin = (chat: number) => began.answer({ chat, messages: [{ message: reply, versions: [2] }] });
  return { sent, begin };
}

beforeEach(() => {
  useStore.setState(useStore.getInitialState(), true);
  vi.spyOn(shell, "newChat").mockResolvedValue(null);
  vi.spyOn(shell, "attach").mockResolvedValue();
});
afterEach(() => void vi.restoreAllMocks());

describe("whoever goes on", () => {
  it("is not pulled back by an answer that comes late", async () => {
    const { enter } = chatsToOpen(1, 2);
    const ways = [openChat(1), openChat(2)];
    await rest();
    enter(2);
    await rest();
    enter(1);
    await Promise.all(ways);
    expect(state().chat).toBe(2);
  });

  it("is not pulled back into the chat that a question has begun", async () => {
    const { begin } = sending();
    const asked = send("Hello");
    await newChat();
    begin(5);
    await asked;
    expect(state()).toMatchObject({ chat: null, messages: [], live: { 2: { chat: 5 } } });
  });

  it("comes back to what is still shown", async () => {
    const { open, enter } = chatsToOpen(2);
    await openChat(1);
    const away = openChat(2);
    await openChat(1);
    enter(2);
    await away;
    expect(state().chat).toBe(1);
    expect(open.mock.calls).toEqual([
      [1, 1],
      [2, 2],
      [3, 1],
    ]);
  });

  it("is told why a chat does not open, and stays", async () => {
    chatsToOpen();
    await openChat(1);
    const error = { code: "unknown_chat", message: "There is no chat 9.", hint: "Open another chat." };
    vi.spyOn(shell, "openChat").mockRejectedValue(new ShellError(error));
    await openChat(9);
    expect(state()).toMatchObject({ chat: 1, actionError: error, navigation: { pending: false } });
  });

  it("is not told of a way that was left", async () => {
    const first = later<OpenedChat>();
    vi.spyOn(shell, "openChat").mockReturnValueOnce(first.promise).mockResolvedValue(openedChat(2));
    const ways = [openChat(1), openChat(2)];
    await rest();
    first.refuse(new ShellError({ code: "left", message: "Left.", hint: "" }));
    await Promise.all(ways);
    expect(state()).toMatchObject({ chat: 2, actionError: null, note: null });
  });
});

describe("a temporary chat that is left", () => {
  const asked = { id: FIRST_TEMPORARY, parent: null, role: "user" as const, text: "Who?" };

  it("can be gone back to until it is gone, and says so once something was written in it", async () => {
    chatsToOpen();
    vi.spyOn(shell, "newTemporaryChat").mockResolvedValue(openedChat(FIRST_TEMPORARY));
    await newTemporaryChat();
    expect(state().chat).toBe(FIRST_TEMPORARY);
    await newChat();
    expect(state().note).toBeNull();

    await openChat(FIRST_TEMPORARY);
    useStore.setState({ messages: [asked as Message] });
    await openChat(1);
    expect(state().note?.text).toContain("Nothing of it is kept.");
    await undo();
    expect(state()).toMatchObject({ chat: FIRST_TEMPORARY, note: null });
  });

  it("says nothing where it is kept", async () => {
    chatsToOpen();
    await openChat(FIRST_TEMPORARY);
    useStore.setState({ messages: [asked as Message] });
    vi.spyOn(shell, "keepChat").mockResolvedValue(openedChat(9));
    await keepChat(FIRST_TEMPORARY);
    expect(state()).toMatchObject({ chat: 9, note: null });
  });
});

describe("a chat that is deleted", () => {
  it("is not opened by an answer from before", async () => {
    const { enter } = chatsToOpen(1);
    const way = openChat(1);
    await rest();
    dispatch({ kind: "app", event: { type: "chats_gone", chats: [1] } });
    enter(1);
    await way;
    expect(state().chat).toBe(null);
  });

  it("is not entered by the question that has begun it", async () => {
    const { begin } = sending();
    const asked = send("Hello");
    await rest();
    dispatch({ kind: "app", event: { type: "chats_gone", chats: [5] } });
    begin(5);
    await asked;
    expect(state()).toMatchObject({ chat: null, messages: [] });
  });

  it("leaves nothing of its system prompt to the next one", async () => {
    const { sent, begin } = sending();
    vi.spyOn(shell, "openChat").mockResolvedValue({ ...openedChat(1), settings: FOX });
    // Nor does what the new chat before it was to have.
    useStore.setState({ chatSettings: { ...DEFAULT_CHAT_SETTINGS, system_prompt: "You are an owl." } });
    await openChat(1);
    expect(state().chatSettings).toEqual(FOX);
    dispatch({ kind: "app", event: { type: "chats_gone", chats: [1] } });
    const asked = send("Hello");
    begin(5);
    await asked;
    expect(sent.mock.calls[0]?.[0]).toEqual({
      new: { navigation: 1, settings: DEFAULT_CHAT_SETTINGS, project: null },
    });
  });

  it("comes back from the list of what was deleted, and is opened; a message comes into view", async () => {
    chatsToOpen();
    const show = vi.spyOn(shell, "showMessage").mockResolvedValue(openedChat(4));
    const undo = vi.spyOn(shell, "undoDeletion").mockImplementation(async (id) => id);
    const deletion = (id: number, message: number | null): Deletion => ({
      id,
      chat: id,
      title: "Owls",
      message,
      excerpt: "",
    });
    dispatch({ kind: "app", event: { type: "deletions", deletions: [deletion(4, 40), deletion(3, null)] } });
    for (const one of state().deletions.toReversed()) {
      await bringBack(one);
      expect(state().chat).toBe(one.chat);
    }
    expect(undo.mock.calls).toEqual([[3], [4]]);
    expect(show).toHaveBeenCalledWith(2, 40);
    expect(state().jump).toEqual({ message: 40, highlighted: true });
  });
});

describe("a new chat", () => {
  it("takes its settings along, with what is changed while it begins", async () => {
    const { sent, begin } = sending();
    const set = vi.spyOn(shell, "setChatSettings").mockResolvedValue(null);
    useStore.setState({ chatSettings: FOX });
    const asked = send("Hello");
    const later = { ...FOX, system_prompt: "You are an owl." };
    dispatch({ kind: "chat settings", settings: later });
    begin(5);
    await asked;
    await rest();
    expect(sent.mock.calls[0]?.[0]).toEqual({ new: { navigation: 0, settings: FOX, project: null } });
    expect(set.mock.calls).toEqual([[5, later]]);
    expect(state()).toMatchObject({ chat: 5, chatSettings: later });
  });
});

describe("what an answer is for", () => {
  it("is the chat that it was asked in: its message, and its preset", async () => {
    chatsToOpen();
    await openChat(1);
    const [deleted, added] = [later<{ deletion: number; chat: OpenedChat }>(), later<never>()];
    vi.spyOn(shell, "deleteMessage").mockReturnValue(deleted.promise);
    vi.spyOn(shell, "addPreset").mockReturnValue(added.promise);
    const set = vi.spyOn(shell, "setChatSettings").mockResolvedValue(null);
    const kept = addPreset("Fox");
    dispatch({ kind: "navigation started" });
    dispatch({ kind: "opened", navigation: 2, opened: openedChat(2) });
    const gone = deleteMessage(7);
    await rest();
    deleted.answer({ deletion: 3, chat: openedChat(1) });
    added.answer({ id: 1, name: "Fox", system_prompt: "", generation: null } as never);
    await Promise.all([kept, gone]);
    expect(state().chat).toBe(2);
    expect(set).not.toHaveBeenCalled();
  });

  it("is the list that was asked for last, as it has become meanwhile", async () => {
    const pages = [later(), later(), later(), later()] as const;
    let asked = 0;
    vi.spyOn(shell, "chatPage").mockImplementation(() => pages[asked++]?.promise as never);
    const page = (title: string) => ({ chats: [chatSummary(1, { title })], next: null, total: 1 });
    const lists = [listChats("a"), listChats("b")];
    dispatch({ kind: "app", event: { type: "chats", chats: [chatSummary(1)] } });
    pages[1].answer(page("older"));
    await rest();
    pages[2].answer(page("newer"));
    await rest();
    // It was asked for before the list changed, and is asked for again.
    pages[0].answer(page("another"));
    await rest();
    pages[3].answer(page("another, as it is now"));
    expect(await Promise.all(lists)).toEqual([true, true]);
    expect(state()).toMatchObject({ tag: "b", chats: [{ title: "newer" }] });
  });
});

describe("two commands about the same", () => {
  it("are a change of a chat and the way to it", async () => {
    const { open } = chatsToOpen();
    const renamed = later<null>();
    vi.spyOn(shell, "renameChat").mockReturnValue(renamed.promise);
    const both = [renameChat(1, "Owls"), openChat(1)];
    await rest();
    const early = open.mock.calls.length;
    renamed.answer(null);
    await Promise.all(both);
    expect([early, open.mock.calls]).toEqual([0, [[1, 1]]]);
  });

  it("are not both under way", async () => {
    const first = later<null>();
    const pin = vi.spyOn(shell, "pinChat").mockReturnValueOnce(first.promise).mockResolvedValue(null);
    setView({ screen: "models" });
    const both = [pinChat(1, true), pinChat(1, false)];
    await rest();
    expect(pin.mock.calls).toEqual([[1, true]]);
    first.refuse(new Error("no"));
    await Promise.all(both);
    expect(pin.mock.calls).toEqual([
      [1, true],
      [1, false],
    ]);
  });
});
