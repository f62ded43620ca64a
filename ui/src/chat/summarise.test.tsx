// @vitest-environment happy-dom
import { act, cleanup, render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { AppEvent, BranchMessage, Message } from "../bridge/bindings";
import { ShellError, shell } from "../bridge/bridge";
import { start } from "../frame/start";
import { modelInfo } from "../models/samples";
import { useStore } from "../state/store";
import { ChatPage } from "./ChatPage";
import { Composer } from "./Composer";
import { contextUse } from "./context";
import { Summary } from "./Summary";
import { chatSummary, openedChat, replyStats } from "./samples";
import { summarise } from "./summarise";

const initial = useStore.getInitialState();
const message = (id: number, more: Partial<Message>): Message => ({
  id,
  parent: id > 1 ? id - 1 : null,
  role: id % 2 ? "user" : "assistant",
  text: `Text ${id}`,
  pictures: [],
  thinking: "",
  steps: [],
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
  message(1, {}),
  message(2, { model: "Owl", stats: replyStats({ prompt_tokens: 4000, emitted: 96 }) }),
];
const model = modelInfo("/owl", { name: "Owl", context_length: 4096 });

/** The shell says something. */
let tell: (event: AppEvent) => void;
const progress = (done: number, of: number) => tell({ type: "summary", chat: 5, progress: { done, of } });
/** The summary is no longer being written, with what has come of it. */
async function end(come?: AppEvent): Promise<void> {
  await act(async () => {
    if (come) tell(come);
    tell({ type: "summary", chat: 5, progress: null });
  });
}
const WRITTEN: AppEvent = { type: "summary_written", chat: 5, begun: 8 };

beforeEach(async () => {
  vi.spyOn(shell, "watch").mockImplementation(async (onEvent) => {
    tell = onEvent;
    throw new Error("no snapshot");
  });
  vi.spyOn(shell, "library").mockRejectedValue(new Error("no library"));
  await start(() => false);
  const engine = { state: "ready", model, device: "cpu", in_memory: true } as const;
  useStore.setState(
    { ...initial, opened: true, chat: 5, about: chatSummary(5), messages: FULL, engine },
    true,
  );
  vi.spyOn(shell, "summarise").mockResolvedValue(null);
  vi.spyOn(shell, "openChat").mockImplementation(async (_, chat) =>
    openedChat(chat, [alone(message(9, {}))]),
  );
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
    act(() => progress(1, 3));
    expect(screen.getByTestId("summary-note").textContent).toContain("Summarising part 2 of 3");
    await end(WRITTEN);
    await vi.waitFor(() => expect(useStore.getState().chat).toBe(8));
    expect(useStore.getState().summaries).toEqual({});
  });

  it("says and does the same on a page that has not begun it", async () => {
    const stop = vi.spyOn(shell, "stopSummary").mockResolvedValue(null);
    const user = userEvent.setup();
    useStore.setState({ summaries: { 5: { done: 1, of: 3 } } });
    render(<Composer />);
    expect(screen.getByTestId("summary-note").textContent).toContain("Summarising part 2 of 3");
    await user.click(screen.getByTestId("stop-summary"));
    expect(stop).toHaveBeenCalledWith(5);
    await summarise(5);
    expect(shell.summarise).not.toHaveBeenCalled();
    await end(WRITTEN);
    await vi.waitFor(() => expect(useStore.getState().chat).toBe(8));
  });

  it("goes on in the main window where it has a window of its own", async () => {
    const goOn = vi.spyOn(shell, "goOnInWindow").mockResolvedValue(null);
    useStore.setState({ alone: 5, summaries: { 5: { done: 1, of: 3 } } });
    render(<Composer />);
    expect(screen.getByTestId("summary-note")).toBeTruthy();
    await end(WRITTEN);
    expect(goOn).toHaveBeenCalledWith(8);
    expect(useStore.getState().chat).toBe(5);
  });

  it("takes what was typed and what waits along, and nothing is sent meanwhile", async () => {
    vi.spyOn(shell, "setDraftText").mockResolvedValue(null);
    vi.spyOn(shell, "setDraftFiles").mockResolvedValue(null);
    vi.spyOn(shell, "setDraftPictures").mockResolvedValue(null);
    const waiting = { id: 1, text: "And bells?", files: [], pictures: [] };
    useStore.setState({ drafts: { 5: "And foxes?" }, queued: { 5: [waiting] } });
    render(<Composer />);
    await act(() => summarise(5));
    expect(screen.getByTestId("send").getAttribute("aria-disabled")).toBe("true");
    await end(WRITTEN);
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
    await end();
    expect(useStore.getState()).toMatchObject({ chat: 5, summaries: {}, actionError: null });
    expect(screen.getByTestId("summarise")).toBeTruthy();
  });

  it("says what went wrong, and can be summarised again", async () => {
    const error = { code: "no_summary", message: "The model wrote no summary.", hint: "Try again." };
    await summarise(5);
    await end({ type: "summary_failed", chat: 5, error });
    expect(useStore.getState()).toMatchObject({ chat: 5, summaries: {}, actionError: error });
    vi.mocked(shell.summarise).mockRejectedValue(new ShellError({ ...error, code: "model_not_ready" }));
    await summarise(5);
    const refused = { summaries: {}, actionError: { code: "model_not_ready" } };
    expect(useStore.getState()).toMatchObject(refused);
  });

  it("leaves whoever has gone elsewhere where they are", async () => {
    await summarise(5);
    useStore.setState({ chat: 6 });
    await end(WRITTEN);
    expect(useStore.getState().chat).toBe(6);
    expect(useStore.getState().note?.text).toContain("The summary is written.");
  });
});

describe("a summary", () => {
  const summary = message(20, {
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

  it("is estimated with all that follows it once it is changed, until a reply has counted", async () => {
    const count = vi.spyOn(shell, "countTokens").mockReturnValue(new Promise(() => {}));
    const chatSettings = { ...initial.chatSettings, system_prompt: "Be an owl." };
    const changed = { ...summary, edited: true, text: "They spoke of owls and of bells at length." };
    useStore.setState({ chat: 8, messages: [changed, ...FULL], chatSettings });
    const { unmount } = render(<ChatPage />);
    const said = () => screen.getByTestId("context").textContent;
    expect(said()).toContain("About 18 of 4,096 tokens of the model’s context are used.");
    unmount();
    count.mockImplementation(async (texts) => texts.map(({ length }) => 100 * length));
    render(<ChatPage />);
    const texts = ["Be an owl.", changed.text, "Text 1", "Text 2"];
    const counted = 100 * texts.join("").length;
    await vi.waitFor(() => expect(said()).toContain(`About ${counted.toLocaleString("en")} of 4,096`));
    expect(count.mock.calls).toContainEqual([texts]);
    // The note above the message says so too.
    render(<Composer />);
    expect(screen.getByTestId("context-note").textContent).toContain("About 6,400 of 4,096 tokens are used.");
    const stats = replyStats({ prompt_tokens: 900, emitted: 100 });
    const since = message(22, { model: "Owl", stats, created_at: 60 });
    act(() => useStore.setState({ messages: [changed, ...FULL, since] }));
    expect(said()).toContain("1,000 of 4,096");
  });

  it("takes the place of what was read before it", () => {
    expect(contextUse(FULL, model, initial.settings)?.full).toBe(true);
    expect(contextUse([summary, ...FULL], model, initial.settings)).toBe(null);
    const since = message(22, { stats: replyStats({ prompt_tokens: 900, emitted: 100 }), created_at: 60 });
    expect(contextUse([summary, ...FULL, since], model, initial.settings)?.used).toBe(1000);
  });
});
