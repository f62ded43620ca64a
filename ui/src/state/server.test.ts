import { describe, expect, it } from "vitest";
import type {
  DraftingNote,
  DraftRun,
  EngineState,
  LibrarySnapshot,
  Message,
  ReplyEvent,
  Snapshot,
} from "../bridge/bindings";
import { chatSummary, openedChat, replyStats } from "../chat/samples";
import { watch } from "../frame/Announcer";
import { library, local, modelInfo } from "../models/samples";
import {
  type Change,
  DEFAULT_CHAT_SETTINGS,
  draftingNote,
  generation,
  INITIAL_LOCAL_API,
  modelBefore,
  NO_MACS,
  NO_RING,
  NO_TOOLS,
  reduce,
  type ServerState,
  streamingReply,
} from "./server";
import { reason, useStore } from "./store";

const message = (
  id: number,
  role: "user" | "assistant",
  parent: number | null,
  more: Partial<Message> = {},
): Message => ({
  id,
  parent,
  role,
  text: "",
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

const streaming = (id: number, parent: number, more: Partial<Message> = {}) =>
  message(id, "assistant", parent, { status: { state: "streaming" }, ...more });

const replay = (...changes: Change[]): ServerState =>
  changes.reduce(reduce, useStore.getInitialState() as ServerState);

const versioned = (message: Message, ...others: number[]) => ({
  message,
  versions: [...others, message.id].sort((a, b) => a - b),
});
const sentFrom = (from: number | null, chat: number, ...messages: Message[]): Change => ({
  kind: "sent",
  from: { navigation: 0, chat: from },
  sent: { chat, messages: messages.map((message) => versioned(message)) },
});
const sent = (chat: number, ...messages: Message[]): Change => sentFrom(null, chat, ...messages);
const opened = (chat: number, ...messages: Message[]): Change => ({
  kind: "opened",
  navigation: 0,
  opened: openedChat(
    chat,
    messages.map((message) => versioned(message)),
  ),
});
const reply = (id: number, event: ReplyEvent, at = 0): Change => ({ kind: "reply", message: id, event, at });
const text = (answer: string, thinking = "", position = 0): ReplyEvent => ({
  type: "text",
  answer,
  thinking,
  provenance: { thinking: runOf(thinking, position), answer: runOf(answer, position) },
});
const runOf = (text: string, position: number): DraftRun[] => (text ? [[text.length, position]] : []);

describe("a reply", () => {
  const begun = sent(7, message(1, "user", null, { text: "Hello" }), streaming(2, 1));

  it("opens the chat it was sent to and is being written", () => {
    const shown = replay(begun);
    expect(shown.chat).toBe(7);
    expect(shown.messages.map(({ id }) => id)).toEqual([1, 2]);
    expect(streamingReply(shown)).toBe(2);
  });

  it("grows by what comes, and shows how far the prompt is read until then", () => {
    const reading = replay(begun, reply(2, { type: "reading", done: 5, total: 9, cached: 0, looked: null }));
    expect(reading.live[2]?.reading).toMatchObject({ done: 5, total: 9, cached: 0 });
    const written = [reply(2, text("On a ")), reply(2, text("day"))].reduce(reduce, reading);
    expect(written.live[2]).toMatchObject({ answer: "On a day", reading: null });
  });

  it("is told of another model than was expected", () => {
    const shown = replay(begun, reply(2, { type: "begun", model: "Qwen" }), reply(2, text("On a ")));
    expect(shown.messages.map(({ model }) => model)).toEqual([null, "Qwen"]);
    expect(shown.live[2]?.answer).toBe("On a ");
  });

  it("knows since when its prompt is read, and how far it was then", () => {
    const reading = replay(
      begun,
      reply(2, { type: "reading", done: 3, total: 9, cached: 3, looked: null }, 100),
      reply(2, { type: "reading", done: 6, total: 9, cached: 3, looked: null }, 350),
    );
    expect(reading.live[2]?.reading).toEqual({
      done: 6,
      total: 9,
      cached: 3,
      looked: null,
      first: { done: 3, at: 100 },
    });
  });

  it("knows where its text came from since it was heard of", () => {
    const joined: Change = { kind: "attached", chat: 7, message: streaming(2, 1, { text: "🦉 On" }) };
    const written = replay(begun, joined, reply(2, text(" a ")), reply(2, text("day", "", 1)));
    expect(written.live[2]).toMatchObject({
      before: { thinking: 0, answer: 4 },
      provenance: {
        thinking: [],
        answer: [
          [3, 0],
          [3, 1],
        ],
      },
    });
  });

  it("says how many come before it until its prompt is read", () => {
    const waiting = replay(
      begun,
      reply(2, { type: "waiting", ahead: 3 }),
      reply(2, { type: "waiting", ahead: 0 }),
    );
    expect(waiting.live[2]).toMatchObject({ ahead: 0, reading: null });
    const reading = reduce(
      waiting,
      reply(2, { type: "reading", done: 0, total: 9, cached: 0, looked: null }),
    );
    expect(reading.live[2]).toMatchObject({ ahead: null, reading: { done: 0, total: 9 } });
  });

  it("says that a reply waits again in the middle of it", () => {
    const stats = { tokens_per_second: 9, tokens_per_pass: 1, acceptance: null, passes: [0] };
    const written = replay(begun, reply(2, text("On a ")), reply(2, { type: "live", stats }));
    const waiting = reduce(written, reply(2, { type: "waiting", ahead: 0 }));
    expect(waiting.live[2]).toMatchObject({ answer: "On a ", ahead: 0, stats: null });
    const reading = reduce(
      waiting,
      reply(2, { type: "reading", done: 3, total: 9, cached: 0, looked: null }),
    );
    expect(reading.live[2]).toMatchObject({ ahead: null, reading: { done: 3, total: 9 }, stats: null });
  });

  it("knows how long it thought only from what it saw", () => {
    const seen = replay(
      begun,
      reply(2, text("", "Hm"), 1000),
      reply(2, text("", "m."), 2000),
      reply(2, text("A"), 4000),
    );
    expect(seen.live[2]?.thoughtSeconds).toBe(3);
    const joined: Change = { kind: "attached", chat: 7, message: streaming(2, 1, { thinking: "Hm" }) };
    const late = replay(begun, joined, reply(2, text("", "m."), 2000), reply(2, text("A"), 4000));
    expect(late.live[2]).toMatchObject({ thinking: "Hmm.", answer: "A", thoughtSeconds: null });
  });

  it("ends as the shell keeps it", () => {
    const ended = message(2, "assistant", 1, { text: "On a day.", thinking: "" });
    const shown = replay(begun, reply(2, text("On a day")), reply(2, { type: "ended", message: ended }));
    expect(shown.messages.at(-1)).toBe(ended);
    expect(shown.live).toEqual({});
    expect(streamingReply(shown)).toBeNull();
    expect(reduce(shown, reply(2, text("late")))).toBe(shown);
  });

  it("takes the place of the one it tries again", () => {
    const ended = message(2, "assistant", 1, { text: "No." });
    const shown = replay(begun, reply(2, { type: "ended", message: ended }), {
      kind: "sent",
      from: { navigation: 0, chat: 7 },
      sent: { chat: 7, messages: [versioned(streaming(3, 1), 2)] },
    });
    expect(shown.messages.map(({ id }) => id)).toEqual([1, 3]);
    expect(shown.versions[3]).toEqual([2, 3]);
  });

  it("follows another version of the question, also of the first", () => {
    const asked = message(3, "user", null, { text: "Hi" });
    const shown = replay(begun, reply(2, { type: "ended", message: message(2, "assistant", 1) }), {
      kind: "sent",
      from: { navigation: 0, chat: 7 },
      sent: { chat: 7, messages: [versioned(asked, 1), versioned(streaming(4, 3))] },
    });
    expect(shown.messages.map(({ id }) => id)).toEqual([3, 4]);
    expect(shown.versions[3]).toEqual([1, 3]);
  });

  it("is being written in its chat also while another branch is shown", () => {
    const shown = replay(begun, opened(7, message(5, "user", null)));
    expect(streamingReply(shown)).toBe(2);
    expect(streamingReply(replay(begun, opened(8, message(9, "user", null))))).toBeNull();
  });

  it("goes on from what it had when it is continued", () => {
    const stopped = message(2, "assistant", 1, { text: "On a ", status: { state: "interrupted" } });
    const shown = replay(
      begun,
      reply(2, { type: "ended", message: stopped }),
      sentFrom(7, 7, streaming(2, 1, { text: "On a " })),
      reply(2, text("day")),
    );
    expect(shown.messages.map(({ id }) => id)).toEqual([1, 2]);
    expect(shown.live[2]?.answer).toBe("On a day");
  });

  it("goes on while another chat is open, and does not show up there", () => {
    const other = message(9, "user", null);
    const shown = replay(begun, opened(8, other), reply(2, text("On")));
    expect(shown.messages).toEqual([other]);
    expect(shown.live[2]).toMatchObject({ chat: 7, answer: "On" });
    const late = reduce(shown, sentFrom(7, 7, streaming(4, 1)));
    expect(late.chat).toBe(8);
    expect(late.messages).toEqual([other]);
  });
});

describe("the window", () => {
  it("starts from the snapshot and follows each event", () => {
    const { settings, preferences } = useStore.getInitialState();
    const snapshot: Snapshot = {
      engine: { state: "starting" },
      models: [],
      selected_model: "/demo",
      chats: { chats: [chatSummary(1)], next: null, total: 1 },
      tags: [],
      presets: [],
      deleted_presets: [],
      prompts: [],
      projects: [],
      deleted_projects: [],
      open: openedChat(1, [versioned(message(1, "user", null))]),
      draft: { text: "", files: [], pictures: [] },
      navigation: 3,
      deletions: [],
      summaries: [{ chat: 1, progress: { done: 1, of: 3 } }],
      settings,
      reveal_drafts: true,
      preferences,
      surroundings: { accent: "#62ba46", full_screen: true },
      local_api: INITIAL_LOCAL_API,
      macs: NO_MACS,
      ring: NO_RING,
      updates: { state: "idle", checked: null },
      tools: NO_TOOLS,
      trouble: null,
    };
    const shown = replay({ kind: "snapshot", snapshot });
    expect(shown).toMatchObject({ selectedModel: "/demo", chat: 1, about: { id: 1 }, versions: { 1: [1] } });
    expect(shown.navigation).toMatchObject({ latest: 3, current: 3, pending: false });
    const under = replay({ kind: "snapshot", snapshot }, { kind: "navigation started" });
    const again: Change = { kind: "snapshot", snapshot: { ...snapshot, open: null } };
    expect(reduce(under, again).chat, "what is asked for on the way there is older").toBe(1);
    expect(reduce(reduce(under, { kind: "navigation failed" }), again).chat).toBe(null);
    expect(shown).not.toHaveProperty("selected_model");
    expect(shown.summaries).toEqual({ 1: { done: 1, of: 3 } });
    const models = [{ path: "/m", name: "m", built_in: false }];
    const error = { code: "chats_corrupt", message: "The chats are damaged.", hint: "Restore." };
    const trouble = { error, backups: [] };
    const changed = [
      { kind: "app", event: { type: "chats_trouble", trouble } },
      { kind: "app", event: { type: "models", models, selected_model: "/m" } },
      { kind: "app", event: { type: "chats", chats: [chatSummary(1, { title: "Named" })] } },
      { kind: "app", event: { type: "settings", settings: { ...settings, max_tokens: 5 } } },
      { kind: "app", event: { type: "preferences", preferences: { ...preferences, zoom: 125 } } },
      { kind: "app", event: { type: "surroundings", surroundings: { accent: null, full_screen: false } } },
      { kind: "app", event: { type: "engine", engine: { state: "loading", path: "/m", done: 1, total: 2 } } },
    ] satisfies Change[];
    expect(changed.reduce(reduce, shown)).toMatchObject({
      models,
      selectedModel: "/m",
      chats: [{ id: 1, title: "Named" }],
      about: { title: "Named" },
      trouble,
      settings: { max_tokens: 5 },
      engine: { state: "loading", done: 1 },
    });
  });

  it("takes each library whole, and no answer that is older than what it heard", () => {
    const library = (free_bytes: number): LibrarySnapshot => ({
      place: { path: "/models", online: true, free_bytes, used_bytes: 0 },
      models: [],
      draft_models: [],
      jobs: [],
      deleted: [],
      context: { chosen: 16384, choices: [16384] },
      kv_precision: "full",
      hub: {
        settings: { address: "", proxy: "", cache: "" },
        endpoint_variable: null,
        proxy_variable: null,
        found_cache: null,
      },
      has_token: false,
    });
    const asked: Change = { kind: "library", library: library(1) };
    const heard: Change = { kind: "app", event: { type: "library", library: library(2) } };
    expect(replay(asked).library?.place.free_bytes).toBe(1);
    expect(replay(asked, heard).library?.place.free_bytes).toBe(2);
    expect(replay(heard, asked).library?.place.free_bytes).toBe(2);
  });

  it("shows that files are held over it until they leave or are dropped", () => {
    const over: Change = { kind: "app", event: { type: "dragging", inside: true } };
    const away: Change = { kind: "app", event: { type: "dragging", inside: false } };
    const dropped: Change = { kind: "app", event: { type: "dropped", folders: ["/m"], files: [] } };
    expect(replay(over).dragging).toBe(true);
    expect(replay(over, away).dragging).toBe(false);
    expect(replay(over, dropped).dragging).toBe(false);
  });

  it("closes a chat that is gone, and knows the name of one that was just begun", () => {
    const begun = sent(7, message(1, "user", null), streaming(2, 1));
    const listed: Change = { kind: "app", event: { type: "chats", chats: [chatSummary(7)] } };
    expect(replay(listed, begun).about?.id).toBe(7);
    expect(replay(begun, listed).about?.id).toBe(7);
    const gone: Change = { kind: "app", event: { type: "chats_gone", chats: [7] } };
    expect(replay(listed, begun, gone)).toMatchObject({ chat: null, about: null, messages: [], chats: [] });
  });

  it("hears of all chats of a project at once", () => {
    const all = [1, 2, 3].map((id) => chatSummary(id));
    const listed: Change = { kind: "app", event: { type: "chats", chats: all } };
    const project: Change = { kind: "project chats", project: 4, chats: [] };
    const moved = all.map((chat) => ({ ...chat, project: 4 }));
    const entered: Change = { kind: "app", event: { type: "chats", chats: moved } };
    const inside = replay(listed, project, opened(2), entered);
    expect(inside).toMatchObject({ chat: 2, about: { project: 4 }, chats: [], listChanges: 2 });
    expect(inside.projectChats[4]?.map(({ chat }) => chat.id).sort()).toEqual([1, 2, 3]);
    const gone: Change = { kind: "app", event: { type: "chats_gone", chats: [1, 2] } };
    const left = reduce(inside, gone);
    expect(left).toMatchObject({ chat: null, listChanges: 3, navigation: { deleted: [1, 2] } });
    expect(left.projectChats[4]?.map(({ chat }) => chat.id)).toEqual([3]);
  });

  it("knows how far each summary is, until it is over", () => {
    const told = (chat: number, progress: { done: number; of: number } | null): Change => ({
      kind: "app",
      event: { type: "summary", chat, progress },
    });
    const both = replay(
      told(1, { done: 0, of: 2 }),
      told(2, { done: 0, of: 0 }),
      told(1, { done: 1, of: 2 }),
    );
    expect(both.summaries).toEqual({ 1: { done: 1, of: 2 }, 2: { done: 0, of: 0 } });
    expect(reduce(both, told(1, null)).summaries).toEqual({ 2: { done: 0, of: 0 } });
  });

  it("writes as the chat says, and else as the app does", () => {
    const { settings } = useStore.getInitialState();
    const own = { ...settings, max_tokens: 7 };
    const changed: Change = {
      kind: "chat settings",
      settings: { ...DEFAULT_CHAT_SETTINGS, generation: own },
    };
    expect(generation(replay(changed))).toBe(own);
    expect(generation(replay(changed, opened(8)))).toBe(settings);
  });

  it("goes on with the list it shows, and with no other", () => {
    const next = { pinned: false, updated_at: 1, id: 1 };
    const page = (ids: number[], more: typeof next | null) => ({
      chats: ids.map((id) => chatSummary(id)),
      next: more,
      total: 9,
    });
    const first: Change = { kind: "listed", tag: "work", after: null, page: page([3, 2], next) };
    const rest: Change = { kind: "listed", tag: "work", after: next, page: page([2, 1], null) };
    const ids = (shown: ServerState) => shown.chats.map(({ id }) => id);
    expect(ids(replay(first, rest))).toEqual([3, 2, 1]);
    expect(replay(first, rest).moreChats).toBeNull();
    const others: Change = { kind: "listed", tag: null, after: null, page: page([9], null) };
    expect(ids(replay(first, others, rest))).toEqual([9]);
  });

  it("is empty in a new chat", () => {
    const shown = replay(sent(7, message(1, "user", null), streaming(2, 1)), {
      kind: "new",
      navigation: 0,
    });
    expect(shown).toMatchObject({ chat: null, messages: [] });
  });
});

describe("what drafts did", () => {
  const costly = { kind: "lookup_not_paying" } as const;
  const stats = (drafting_note: DraftingNote | null) => replyStats({ drafting_note });
  const by = (id: number, model: string, note: DraftingNote | null) =>
    message(id, "assistant", id - 1, { model, stats: stats(note) });

  it("is what the last reply that this model finished says", () => {
    const replies = [by(1, "small", costly), by(2, "large", null), streaming(3, 2, { model: "small" })];
    expect(draftingNote(replies, "small")).toEqual(costly);
    expect(draftingNote(replies, "large")).toBeNull();
    expect(draftingNote([...replies, by(4, "small", null)], "small")).toBeNull();
    expect(draftingNote([], "small")).toBeNull();
  });
});

describe("the model that answered a chat before", () => {
  const ready = (path: string): EngineState => ({
    state: "ready",
    model: modelInfo(path),
    device: "cpu",
    in_memory: true,
  });
  const models = [local("/small"), local("/large"), local("/broken", { state: { state: "offline" } })];
  const by = (...names: (string | null)[]): ServerState => ({
    ...replay(opened(7, ...names.map((model, id) => message(id, "assistant", null, { model })))),
    engine: ready("/small"),
    library: library({ models }),
  });

  it("is offered while another one would answer next", () => {
    expect(modelBefore(by("large"))?.path).toBe("/large");
    expect(modelBefore(by("small", "large"))?.path).toBe("/large");
    expect(modelBefore({ ...by("large"), engine: ready("/large") })).toBeNull();
  });

  it("may be one that was opened since the library was read", () => {
    const models = [{ path: "/new", name: "new", built_in: false }];
    expect(modelBefore({ ...by("new"), models })?.path).toBe("/new");
  });

  it("is none once the chat goes on with the one that is loaded", () => {
    expect(modelBefore(by("large", "small"))).toBeNull();
  });

  it("is none in a new chat, where nobody is named, and where it cannot be loaded", () => {
    for (const shown of [by(), by(null), by("gone"), by("broken"), { ...by("large"), library: null }])
      expect(modelBefore(shown)).toBeNull();
    const loading: EngineState = { state: "loading", path: "/small", done: 0, total: 1 };
    expect(modelBefore({ ...by("large"), engine: loading })).toBeNull();
  });
});

describe("the reason why a control cannot be used", () => {
  const loading: EngineState = { state: "loading", path: "/m", done: 1, total: 2 };
  const failed: EngineState = { state: "failed", error: { code: "x", message: "x", hint: "x" }, model: null };
  const state = { opened: true, sending: false, engine: loading };

  it("stops no question while a model loads", () => {
    expect(reason(state, "ask")).toBeNull();
    expect(reason({ ...state, opened: false }, "ask")).toMatch(/opened/);
    expect(reason({ ...state, sending: true }, "ask")).toMatch(/being sent/);
    expect(reason({ ...state, engine: failed }, "ask")).toMatch(/No model/);
    // The question has it loaded once more.
    expect(reason({ ...state, engine: { ...failed, model: "/m" } }, "ask")).toBeNull();
  });

  it("stops another model while one loads, but not after one failed", () => {
    expect(reason(state, "open")).toMatch(/being loaded/);
    expect(reason({ ...state, engine: { state: "starting" } }, "open")).toMatch(/starting/);
    expect(reason({ ...state, engine: failed }, "open")).toBeNull();
  });

  it("stops what only a loaded model knows", () => {
    expect(reason(state, "know")).toMatch(/No model is loaded/);
  });
});

describe("a reply whose end is announced", () => {
  const ended = message(2, "assistant", 1);

  it("was seen while it was written", () => {
    expect(watch(watch(null, streaming(2, 1)), ended)).toBe(2);
  });

  it("is none that had ended before, or while another chat was open", () => {
    expect(watch(null, ended)).toBeNull();
    const away = watch(watch(null, streaming(2, 1)), message(9, "assistant", 8));
    expect(watch(away, ended)).toBeNull();
    expect(watch(watch(2, undefined), ended)).toBeNull();
  });
});
