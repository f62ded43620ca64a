// @vitest-environment happy-dom
import { act, cleanup, render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { BranchMessage, Message, SummaryProgress } from "../bridge/bindings";
import { ShellError, shell } from "../bridge/bridge";
import { modelInfo } from "../models/samples";
import { useStore } from "../state/store";
import { Composer } from "./Composer";
import { contextUse } from "./context";
import { Summary } from "./Summary";
import { chatSummary, openedChat, replyStats } from "./samples";
import { summarise } from "./summarise";

const initial = useStore.getInitialState();
const said = (id: number, more: Partial<Message>): Message => ({
  id,
  parent: id > 1 ? id - 1 : null,
  role: id % 2 ? "user" : "assistant",
  text: `Text ${id}`,
  pictures: [],
  thinking: "",
  edited: false,
  status: { state: "finished", reason: "stop" },
  stats: null,
  error: null,
  model: null,
  created_at: id,
  ...more,
});
const alone = (message: Message): BranchMessage => ({ message, versions: [message.id] });
const FULL = [
  said(1, {}),
  said(2, { model: "Owl", stats: replyStats({ prompt_tokens: 4000, emitted: 96 }) }),
];
const model = modelInfo("/owl", { name: "Owl", context_length: 4096 });

let progress: (progress: SummaryProgress) => void;
let end: (chat: number | null) => void;
let fail: (error: unknown) => void;

beforeEach(() => {
  const engine = { state: "ready", model, device: "cpu", in_memory: true } as const;
  useStore.setState(
    { ...initial, opened: true, chat: 5, about: chatSummary(5), messages: FULL, engine },
    true,
  );
  vi.spyOn(shell, "summarise").mockImplementation((_, onProgress) => {
    progress = onProgress;
    return new Promise((resolve, reject) => {
      [end, fail] = [resolve, reject];
    });
  });
  vi.spyOn(shell, "openChat").mockImplementation(async (_, chat) => openedChat(chat, [alone(said(9, {}))]));
});
afterEach(() => {
  cleanup();
  vi.restoreAllMocks();
});

const begun = () => vi.waitFor(() => expect(shell.summarise).toHaveBeenCalledOnce());

describe("a chat that fills the context", () => {
  it("is offered a summary, says how far it is, and goes on in the new chat", async () => {
    const user = userEvent.setup();
    render(<Composer />);
    expect(screen.getByTestId("context-note").textContent).toContain("No room is left.");
    await user.click(screen.getByTestId("summarise"));
    await begun();
    expect(screen.queryByTestId("context-note")).toBe(null);
    act(() => progress({ done: 1, of: 3 }));
    expect(screen.getByTestId("summary-note").textContent).toContain("Summarising part 2 of 3");
    await act(async () => end(8));
    await vi.waitFor(() => expect(useStore.getState().chat).toBe(8));
    // What comes late is of nothing any more.
    act(() => progress({ done: 2, of: 3 }));
    expect(useStore.getState().summaries).toEqual({});
  });

  it("takes what was typed and what waits along, and nothing is sent meanwhile", async () => {
    vi.spyOn(shell, "setDraftText").mockResolvedValue(null);
    vi.spyOn(shell, "setDraftFiles").mockResolvedValue(null);
    vi.spyOn(shell, "setDraftPictures").mockResolvedValue(null);
    const waiting = { id: 1, text: "And bells?", files: [], pictures: [] };
    useStore.setState({ drafts: { 5: "And foxes?" }, queued: { 5: [waiting] } });
    render(<Composer />);
    let all = Promise.resolve();
    act(() => {
      all = summarise(5);
    });
    await begun();
    expect(screen.getByTestId("send").getAttribute("aria-disabled")).toBe("true");
    await act(async () => {
      end(8);
      await all;
    });
    const { drafts, queued, held } = useStore.getState();
    expect(drafts).toMatchObject({ 5: "", 8: "And foxes?" });
    expect(queued).toMatchObject({ 5: [], 8: [waiting] });
    expect(held[8]).toBe("The chat goes on here.");
  });

  it("stays open where the person stops the summary", async () => {
    const stop = vi.spyOn(shell, "stopSummary").mockResolvedValue(null);
    const user = userEvent.setup();
    render(<Composer />);
    await user.click(screen.getByTestId("summarise"));
    await begun();
    await user.click(screen.getByTestId("stop-summary"));
    expect(stop).toHaveBeenCalledWith(5);
    await act(async () => end(null));
    expect(useStore.getState()).toMatchObject({ chat: 5, summaries: {}, actionError: null });
    expect(screen.getByTestId("summarise")).toBeTruthy();
  });

  it("says what went wrong, and can be summarised again", async () => {
    const all = summarise(5);
    await begun();
    const report = { code: "no_summary", message: "The model wrote no summary.", hint: "Try again." };
    fail(new ShellError(report));
    await all;
    expect(useStore.getState()).toMatchObject({ chat: 5, summaries: {}, actionError: report });
  });

  it("leaves whoever has gone elsewhere where they are", async () => {
    const all = summarise(5);
    await begun();
    useStore.setState({ chat: 6 });
    end(8);
    await all;
    expect(useStore.getState().chat).toBe(6);
    expect(useStore.getState().note?.text).toContain("The summary is written.");
  });
});

describe("a summary", () => {
  const summary = said(20, {
    role: "system",
    model: "Owl",
    text: "They spoke of owls.",
    parent: null,
    created_at: 50,
  });

  it("leads to the whole chat", async () => {
    useStore.setState({ chat: 8, about: chatSummary(8, { origin: { chat: 5, message: 2 } }) });
    const user = userEvent.setup();
    render(<Summary message={summary} />);
    expect(screen.getByTestId("summary").textContent).toContain("They spoke of owls.");
    await user.click(screen.getByTestId("summary-origin"));
    await vi.waitFor(() => expect(useStore.getState().chat).toBe(5));
  });

  it("can be changed", async () => {
    vi.spyOn(shell, "setEdit").mockResolvedValue(null);
    const edit = vi.spyOn(shell, "editReply").mockImplementation(async () => openedChat(8));
    const user = userEvent.setup();
    render(<Summary message={summary} />);
    await user.click(screen.getByTestId("edit-summary"));
    await user.type(screen.getByRole("textbox", { name: "The summary" }), " And of bells.");
    await user.click(screen.getByTestId("save-reply"));
    await vi.waitFor(() => expect(edit).toHaveBeenCalled());
    expect(edit.mock.calls[0]?.slice(1)).toEqual([20, "They spoke of owls. And of bells."]);
  });

  it("takes the place of what was read before it", () => {
    expect(contextUse(FULL, model, initial.settings)?.full).toBe(true);
    expect(contextUse([summary, ...FULL], model, initial.settings)).toBe(null);
    const since = said(22, { stats: replyStats({ prompt_tokens: 900, emitted: 100 }), created_at: 60 });
    expect(contextUse([summary, ...FULL, since], model, initial.settings)?.used).toBe(1000);
  });
});
