// @vitest-environment happy-dom
import { act, cleanup, render, screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Message } from "../bridge/bindings";
import { shell } from "../bridge/bridge";
import { modelInfo } from "../models/samples";
import { useStore } from "../state/store";
import { withFiles } from "./attachments";
import { ChatPage } from "./ChatPage";
import { contextParts, roomLabel } from "./context";
import { replyStats, toolsState } from "./samples";
import { versionsLabel } from "./severalVersions";

const initial = useStore.getInitialState();
const message = (id: number, role: Message["role"], more: Partial<Message> = {}): Message => ({
  id,
  parent: id === 1 ? null : id - 1,
  role,
  text: "Why?",
  pictures: [],
  thinking: "",
  steps: [],
  edited: false,
  model: role === "assistant" ? "owl" : null,
  status: { state: "finished", reason: "stop" },
  stats: null,
  error: null,
  created_at: 0,
  ...more,
});
const NOTES = [
  { name: "iterators.rs", text: "let owl;" },
  { name: "notes.md", text: "An owl." },
];
const MESSAGES = [
  message(1, "user", { text: withFiles("Why?", NOTES.slice(0, 1)) }),
  message(2, "assistant", { stats: replyStats({ prompt_tokens: 18_000, emitted: 420, chat_bytes: 1.4e9 }) }),
  message(3, "user", { text: withFiles("And this?", NOTES.slice(1)) }),
];

beforeEach(() => {
  const model = modelInfo("/owl", { context_length: 32_768 });
  const chatSettings = { ...initial.chatSettings, system_prompt: "You are an owl." };
  const engine = { state: "ready", model, device: "gpu", in_memory: true } as const;
  useStore.setState(
    { ...initial, opened: true, chat: 5, inspector: true, engine, messages: MESSAGES, chatSettings },
    true,
  );
  vi.spyOn(shell, "setPreferences").mockResolvedValue(null);
  vi.spyOn(shell, "countTokens").mockImplementation(async (texts) =>
    texts.map((text) => (text.includes("File:") ? 4212 : 412)),
  );
});
afterEach(() => {
  cleanup();
  vi.restoreAllMocks();
});

const rows = (testId: string) =>
  [...screen.getByTestId(testId).children].map((row) => row.textContent?.replace(/\s+/g, " "));

describe("the panel of a chat", () => {
  it("says how much room is left and what fills the rest, once the model has counted it", async () => {
    render(<ChatPage />);
    expect(screen.getByTestId("room").textContent).toBe("Room for about 10,000 words more.");
    expect(screen.getByTestId("context").textContent).toContain(
      "18,420 of 32,768 tokens of the model’s context are used.",
    );
    // The last question has not been read yet.
    await vi.waitFor(() =>
      expect(rows("room-key")).toEqual([
        "What it always knows412",
        "Files4,212",
        "Messages13,796",
        "Free14,348",
      ]),
    );
    expect(rows("chat-files")).toEqual(["iterators.rs4,212", "notes.md4,212"]);
  });

  it("counts what every chat should know, unless this one is without it", async () => {
    const changed = vi.spyOn(shell, "setChatSettings").mockResolvedValue(null);
    render(<ChatPage />);
    expect(screen.queryByTestId("chat-standing")).toBeNull();
    const preferences = { ...initial.preferences, standing_instructions: "Metric units." };
    act(() => useStore.setState({ preferences }));
    await vi.waitFor(() => expect(rows("room-key")[0]).toBe("What it always knows824"));
    await userEvent.click(screen.getByTestId("chat-standing"));
    expect(screen.getByTestId("chat-standing").getAttribute("aria-checked")).toBe("false");
    expect(rows("room-key")[0]).toBe("What it always knows412");
    await vi.waitFor(() =>
      expect(changed.mock.lastCall).toEqual([5, expect.objectContaining({ without_standing: true })]),
    );
  });

  it("counts the tools that the chat may use, once one is chosen", async () => {
    const model = modelInfo("/owl", { context_length: 32_768, tools: true });
    const engine = { state: "ready", model, device: "gpu", in_memory: true } as const;
    useStore.setState({ tools: toolsState(), engine });
    render(<ChatPage />);
    await vi.waitFor(() => expect(rows("room-key")[0]).toBe("What it always knows412"));
    expect(rows("room-key").some((row) => row?.startsWith("Tools"))).toBe(false);
    const chatSettings = { ...useStore.getState().chatSettings, tools: ["write_files"] };
    act(() => useStore.setState({ chatSettings }));
    await vi.waitFor(() => expect(rows("room-key")[1]).toBe("Tools824"));
  });

  it("says what is only estimated", () => {
    vi.spyOn(shell, "countTokens").mockReturnValue(new Promise(() => {}));
    const chatSettings = { ...initial.chatSettings, system_prompt: "You are a fox." };
    useStore.setState({ chatSettings });
    render(<ChatPage />);
    expect(rows("room-key")[0]).toBe("What it always knowsabout 4");
    expect(screen.getByTestId("context").textContent).toMatch(/^18,420 of/);
    cleanup();
    // Another model has counted.
    const answered = message(2, "assistant", { model: "fox", stats: replyStats() });
    useStore.setState({ messages: [message(1, "user"), answered] });
    render(<ChatPage />);
    expect(screen.getByTestId("context").textContent).toMatch(/^About 752 of/);
  });

  it("says nothing of the room where no model is ready, and nothing of files where there are none", () => {
    useStore.setState({ engine: { state: "starting" }, messages: [] });
    render(<ChatPage />);
    for (const part of ["room", "fold-chat_memory", "chat-files", "chat-versions"])
      expect(screen.queryByTestId(part)).toBeNull();
    expect(screen.getByTestId("chat-replies").textContent).toContain("Replies");
  });

  it("remembers that the memory is unfolded", async () => {
    render(<ChatPage />);
    const row = screen.getByTestId("fold-chat_memory");
    expect(row.textContent).toBe("Memory it takesabout 1.4 GB");
    await userEvent.click(row);
    expect(row.getAttribute("aria-expanded")).toBe("true");
    expect(within(row.parentElement as HTMLElement).getByText("18,420")).toBeTruthy();
    const kept = vi.mocked(shell.setPreferences).mock.lastCall?.[0].open_folds;
    expect(kept).toEqual({ ...initial.preferences.open_folds, chat_memory: true });
  });

  it("leads to the settings of replies, and to the last message that has other versions", async () => {
    useStore.setState({ versions: { 1: [1], 2: [2, 7], 3: [6, 3] } });
    const user = userEvent.setup();
    render(<ChatPage />);
    await user.click(screen.getByTestId("chat-replies"));
    expect(useStore.getState().repliesOpen).toBe(true);
    const row = screen.getByTestId("chat-versions");
    expect(row.textContent).toBe("Versionsof 2 messages");
    await user.click(row);
    expect(useStore.getState().jump).toEqual({ message: 3, highlighted: true });
    expect(useStore.getState().spotlight).toBe("earlier:3");
  });
});

describe("the parts of the context", () => {
  const amount = fc.record({ tokens: fc.nat(50_000), about: fc.boolean() });

  it("are all of it together, and none is less than nothing", () => {
    fc.assert(
      fc.property(fc.nat(32_768), amount, amount, amount, (used, always, tools, files) => {
        const parts = contextParts({ used, of: 32_768 }, always, tools, files).map(({ tokens }) => tokens);
        expect(Math.min(...parts)).toBeGreaterThanOrEqual(0);
        expect(parts.reduce((sum, tokens) => sum + tokens)).toBe(32_768);
      }),
    );
  });

  it("leave to the messages what cannot be told apart, and are estimates where they follow from one", () => {
    const parts = contextParts(
      { used: 100, of: 300 },
      { tokens: 10, about: false },
      { tokens: 20, about: false },
      { tokens: 30, about: true },
    );
    expect(parts.map(({ kind, tokens, about }) => [kind, tokens, about])).toEqual([
      ["always", 10, false],
      ["tools", 20, false],
      ["files", 30, true],
      ["messages", 40, true],
      ["free", 200, false],
    ]);
  });

  it("are estimates where more is said to be there than was read", () => {
    const exactly = (tokens: number) => ({ tokens, about: false });
    const at = (used: number, always: number, tools: number, files: number) =>
      contextParts({ used, of: 8192 }, exactly(always), exactly(tools), exactly(files))
        .slice(0, 4)
        .map(({ tokens, about }) => [tokens, about]);
    // The system prompt has become longer since.
    expect(at(752, 5000, 0, 0)).toEqual([
      [752, true],
      [0, false],
      [0, false],
      [0, true],
    ]);
    // Other tools have been switched on since.
    expect(at(752, 100, 5000, 0)).toEqual([
      [100, false],
      [652, true],
      [0, false],
      [0, true],
    ]);
    expect(at(752, 100, 50, 5000)).toEqual([
      [100, false],
      [50, false],
      [602, true],
      [0, true],
    ]);
    expect(at(752, 752, 0, 0)).toEqual([
      [752, false],
      [0, false],
      [0, false],
      [0, false],
    ]);
  });

  it("leave room for words of which two figures are known", () => {
    const room = (used: number) =>
      roomLabel({ used, of: 32_768, reply: 10, nearly: false, full: used >= 32_768 });
    expect([18_420, 32_700, 32_768].map(room)).toEqual([
      "Room for about 10,000 words more.",
      "Room for about 48 words more.",
      "No room is left.",
    ]);
  });
});

describe("the number of versions", () => {
  it("says of what they are", () => {
    const versions = { 1: [1, 8], 2: [2, 6, 7], 4: [4, 9] };
    const [question, reply, other] = [message(1, "user"), message(2, "assistant"), message(4, "assistant")];
    expect(versionsLabel([], versions)).toBe("none");
    expect(versionsLabel([question], versions)).toBe("2 of one question");
    expect(versionsLabel([reply], versions)).toBe("3 of one reply");
    expect(versionsLabel([reply, other], versions)).toBe("of 2 replies");
    expect(versionsLabel([question, reply], versions)).toBe("of 2 messages");
  });
});
