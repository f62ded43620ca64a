// @vitest-environment happy-dom
import { act, cleanup, fireEvent, render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { CallAnswer, CallId, Message, ReplyCall, ReplyEvent } from "../bridge/bindings";
import { type ReplyListener, shell } from "../bridge/bridge";
import { MAC } from "../primitives/platform";
import { useStore } from "../state/store";
import { Composer } from "./Composer";
import { enqueue, followQueue } from "./queue";
import { Reply } from "./Reply";
import { openedChat, replyCall, replyStep, toolServer, toolsState } from "./samples";

const initial = useStore.getInitialState();
const ARGUMENTS = '{"path":"b.md","text":"One\u200b\\nTwo","copy":true}';

/** When the call was asked about: each question is a new one. */
let asked = 0;

const call = (more: Partial<ReplyCall> = {}): ReplyCall =>
  replyCall(
    { message: 2, step: 0, ordinal: 0 },
    {
      server: "files",
      tool: "write_file",
      arguments_written: ARGUMENTS,
      state: { state: "asking" },
      asked_at: asked,
      ...more,
    },
  );

const reply = (calls: ReplyCall[], more: Partial<Message> = {}): Message => ({
  id: 2,
  parent: 1,
  role: "assistant",
  text: "I write it down.",
  pictures: [],
  thinking: "",
  steps: [replyStep(0, { text: "I write it down.", calls })],
  edited: false,
  model: "owl",
  status: { state: "asking" },
  stats: null,
  error: null,
  created_at: 0,
  ...more,
});

let decided: [CallId, CallAnswer][] = [];
let listeners: ReplyListener<Message>[] = [];

beforeEach(() => {
  asked += 1;
  decided = [];
  listeners = [];
  useStore.setState({ ...initial, opened: true, chat: 5, tools: toolsState() }, true);
  vi.spyOn(shell, "decideCall").mockImplementation(async (id, answer, listener) => {
    decided.push([id, answer]);
    listeners.push(listener);
  });
});
afterEach(() => {
  cleanup();
  vi.useRealTimers();
  vi.restoreAllMocks();
});

/** The reply as the open chat has it. */
function OpenReply() {
  const message = useStore((state) => state.messages.at(-1));
  return message ? <Reply message={message} last /> : null;
}

/** Asks, and draws the question. */
function appear(calls = [call()], more: Partial<Message> = {}): void {
  useStore.setState({ messages: [reply(calls, more)] });
  render(<OpenReply />);
}

/** Asks, and lets the person read the question. */
function ask(calls = [call()], more: Partial<Message> = {}): void {
  appear(calls, more);
  read();
}

const card = () => screen.getByTestId("call-question");
const answers = () =>
  vi.waitFor(() => expect(decided.length).toBeGreaterThan(0)).then(() => decided.map(([, answer]) => answer));
const ALLOWED = { answer: "allow", scope: "once", arguments: null, seen: null };
const command = MAC ? { metaKey: true } : { ctrlKey: true };
/** Lets the time pass in which nothing answers. */
const read = () => vi.spyOn(performance, "now").mockReturnValue(performance.now() + 501);

describe("the question about a call", () => {
  it("says which tool of which server it is about, what that runs and what it claims", () => {
    ask();
    expect(card().textContent).toContain("Foretoken asks: may write_file of My files run?");
    const origin = screen.getByTestId("call-origin").textContent;
    expect(origin).toContain('/bin/files --in "my notes"');
    expect(origin).toContain("This tool may delete or replace. Nobody has checked that.");
  });

  it("says where a server is that is an address, and where one is gone", () => {
    const transport = { kind: "http", address: "https://example.org/mcp", headers: [] } as const;
    useStore.setState({
      tools: toolsState({ servers: [toolServer({ transport: { ...transport, headers: [] } })] }),
    });
    ask();
    expect(screen.getByTestId("call-origin").textContent).toContain("Sends to: https://example.org/mcp");
    act(() => useStore.setState({ tools: toolsState({ servers: [] }) }));
    expect(screen.getByTestId("call-origin").textContent).toBe("This server is not set up any more.");
  });

  it("shows all of the arguments, and what nobody would see in them", () => {
    const text = `${"word ".repeat(4000)}end`;
    ask([call({ arguments_written: JSON.stringify({ text, "k\u202e": "a" }) })]);
    const shown = screen.getByTestId("call-arguments").textContent;
    expect(shown).toContain(text);
    expect(shown).toContain("k⟨U+202E⟩");
    expect(screen.getByTestId("call-shown").textContent).toBe(
      "1 character would not be seen. It is drawn as ⟨U+…⟩.",
    );
    cleanup();
    ask([call({ arguments_written: '{"path":"a","copy":true}' })]);
    expect(screen.getByTestId("call-shown").textContent).toBe(
      "All 2 arguments are shown in full. Nothing is hidden in them.",
    );
  });

  it("shows arguments that are no object as they were written", () => {
    ask([call({ arguments_written: "path=\u200bb" })]);
    expect(screen.getByTestId("call-arguments").textContent).toBe("path=⟨U+200B⟩b");
  });

  it("is read out once, and takes no focus", () => {
    const field = document.body.appendChild(document.createElement("input"));
    field.focus();
    ask();
    expect(screen.getByRole("alert").textContent).toBe("Foretoken asks: may write_file of My files run?");
    expect(document.activeElement).toBe(field);
    cleanup();
    ask();
    expect(screen.queryByRole("alert"), "it is drawn once more").toBeNull();
    field.remove();
  });

  it("says why it is asked where the tool is allowed already", () => {
    ask();
    expect(screen.queryByTestId("may-leak")).toBeNull();
    cleanup();
    ask([call({ may_leak: true })]);
    expect(screen.getByTestId("may-leak").textContent).toContain("this sends something out");
  });

  it("stands once for each call that is asked about, beside those that are not", () => {
    const other = { message: 2, step: 0, ordinal: 1 };
    ask([
      call(),
      call({ id: other, tool: "read_file" }),
      call({ id: { ...other, ordinal: 2 }, state: { state: "done" } }),
    ]);
    expect(screen.getAllByTestId("call-question")).toHaveLength(2);
    expect(screen.getAllByTestId("call")).toHaveLength(1);
  });

  it("is a line once it is answered, while others are not", () => {
    const other = { message: 2, step: 0, ordinal: 1 };
    ask([call({ decision: "allowed_once" }), call({ id: other })]);
    expect(screen.getAllByTestId("call-question")).toHaveLength(1);
    expect(screen.getByTestId("call").textContent).toContain("Allowed, waits for your other answers");
  });

  it("is a line while the reply does not rest", () => {
    ask([call()], { status: { state: "interrupted" } });
    expect(screen.queryByTestId("call-question")).toBeNull();
    expect(screen.getByTestId("call").textContent).toContain("Waits for your answer");
  });
});

describe("the answer about a call", () => {
  it("allows it once, or denies it", async () => {
    ask();
    fireEvent.click(screen.getByTestId("allow-once"));
    expect(await answers()).toEqual([ALLOWED]);
    expect(decided[0]?.[0]).toEqual({ message: 2, step: 0, ordinal: 0 });
    expect(screen.getByTestId("deny").getAttribute("aria-disabled"), "it is on its way").toBe("true");
    fireEvent.click(screen.getByTestId("deny"));
    expect(decided).toHaveLength(1);
    cleanup();
    decided = [];
    ask();
    fireEvent.click(screen.getByTestId("deny"));
    expect(await answers()).toEqual([{ answer: "deny", note: "" }]);
  });

  it.each([
    ["This tool, in this chat", "chat"],
    ["This tool, as it is now, everywhere", "always"],
    ["All tools of My files in this chat, but those that may delete", "server_in_chat"],
  ])("allows for longer: %s", async (name, scope) => {
    ask();
    await userEvent.click(screen.getByTestId("allow-longer"));
    await userEvent.click(await screen.findByText(name));
    expect(await answers()).toEqual([{ ...ALLOWED, scope }]);
  });

  it("tells the model why not", async () => {
    ask();
    await userEvent.click(screen.getByTestId("deny-why"));
    await userEvent.keyboard(" Ask me first. {Enter}");
    expect(await answers()).toEqual([{ answer: "deny", note: "Ask me first." }]);
  });

  it("can be given again where it did not arrive", async () => {
    vi.spyOn(shell, "decideCall").mockRejectedValueOnce(new Error("no"));
    ask();
    fireEvent.click(screen.getByTestId("allow-once"));
    await vi.waitFor(() => expect(useStore.getState().actionError).not.toBeNull());
    await vi.waitFor(() => expect(screen.getByTestId("allow-once").getAttribute("aria-disabled")).toBeNull());
  });

  it("is given by keys only where the card has the focus and was there for a moment", async () => {
    appear();
    fireEvent.keyDown(card(), { key: "Enter", ...command });
    fireEvent.keyDown(card(), { key: "Backspace", ...command });
    await act(async () => {});
    expect(decided, "it has only just come").toEqual([]);
    read();
    fireEvent.keyDown(document.body, { key: "Enter", ...command });
    fireEvent.keyDown(card(), { key: "Enter" });
    fireEvent.keyDown(card(), { key: "Enter", repeat: true, ...command });
    await act(async () => {});
    expect(decided, "no other key, and from nowhere else").toEqual([]);
    fireEvent.keyDown(card(), { key: "Enter", ...command });
    expect(await answers()).toEqual([ALLOWED]);
    cleanup();
    decided = [];
    ask();
    fireEvent.keyDown(screen.getByTestId("allow-once"), { key: "Backspace", ...command });
    expect(await answers()).toEqual([{ answer: "deny", note: "" }]);
  });

  it("is not given by clicks that were meant for what stood there before", async () => {
    appear();
    fireEvent.click(screen.getByTestId("allow-once"));
    fireEvent.click(screen.getByTestId("deny"));
    await userEvent.click(screen.getByTestId("allow-longer"));
    await act(async () => {});
    expect(decided).toEqual([]);
    expect(screen.queryByText("This tool, in this chat"), "the menu stays closed").toBeNull();
    read();
    fireEvent.click(screen.getByTestId("deny"));
    expect(await answers()).toEqual([{ answer: "deny", note: "" }]);
  });

  it("is not given by keys that are for a text in the card", async () => {
    ask();
    fireEvent.click(screen.getByTestId("edit-arguments"));
    fireEvent.keyDown(screen.getByTestId("arguments-json"), { key: "Backspace", ...command });
    fireEvent.keyDown(screen.getByTestId("arguments-json"), { key: "Enter", ...command });
    await act(async () => {});
    expect(decided).toEqual([]);
  });

  it("takes other arguments, but none that are no object", async () => {
    ask();
    fireEvent.click(screen.getByTestId("edit-arguments"));
    const field = screen.getByTestId<HTMLTextAreaElement>("arguments-json");
    expect(field.value).toContain("One\\u200b\\nTwo");
    for (const refused of ["[1]", '{"path":', '"a"', ""]) {
      fireEvent.change(field, { target: { value: refused } });
      expect(screen.getByTestId("allow-once").title).toBe("This is no JSON object yet.");
      fireEvent.click(screen.getByTestId("allow-once"));
    }
    await act(async () => {});
    expect(decided).toEqual([]);
    fireEvent.change(field, { target: { value: '{"path":"c.md"}' } });
    fireEvent.click(screen.getByTestId("allow-once"));
    expect(await answers()).toEqual([{ ...ALLOWED, arguments: '{"path":"c.md"}' }]);
  });

  it("leaves arguments as they were where nothing was changed, or that was given up", async () => {
    ask();
    fireEvent.click(screen.getByTestId("edit-arguments"));
    fireEvent.click(screen.getByTestId("allow-once"));
    expect(await answers()).toEqual([ALLOWED]);
    cleanup();
    decided = [];
    ask();
    fireEvent.click(screen.getByTestId("edit-arguments"));
    fireEvent.change(screen.getByTestId("arguments-json"), { target: { value: "{}" } });
    fireEvent.keyDown(screen.getByTestId("arguments-json"), { key: "Escape" });
    fireEvent.click(screen.getByTestId("allow-once"));
    expect(await answers()).toEqual([ALLOWED]);
  });

  it("lets the reply go on, which is followed to its end", async () => {
    ask();
    fireEvent.click(screen.getByTestId("allow-once"));
    await answers();
    const runs = call({ state: { state: "running" } });
    act(() => listeners[0]?.begun(reply([runs], { status: { state: "streaming" } })));
    expect(screen.queryByTestId("call-question")).toBeNull();
    expect(screen.getByTestId("call").dataset.state).toBe("running");
    expect(screen.getByTestId("live-line").textContent).toBe("A tool is running…");
    const done = call({ state: { state: "done" } });
    const tell = (event: ReplyEvent) => act(() => listeners[0]?.event(2, event));
    tell({ type: "step", step: replyStep(0, { text: "I write it down.", calls: [done] }) });
    expect(screen.getByTestId("call").dataset.state).toBe("done");
    tell({ type: "ended", message: reply([done], { status: { state: "finished", reason: "stop" } }) });
    expect(screen.queryByTestId("live-line")).toBeNull();
  });

  it("comes behind those before it, in whichever order they are taken up", async () => {
    let first = () => {};
    vi.mocked(shell.decideCall).mockImplementationOnce(
      (id, answer) =>
        new Promise((resolve) => {
          decided.push([id, answer]);
          first = resolve;
        }),
    );
    ask([call(), call({ id: { message: 2, step: 0, ordinal: 1 } })]);
    for (const allow of screen.getAllByTestId("allow-once")) fireEvent.click(allow);
    await answers();
    await act(async () => {});
    expect(decided).toHaveLength(1);
    first();
    await vi.waitFor(() => expect(decided).toHaveLength(2));
  });
});

it("what stands above a question cannot be answered anew meanwhile", () => {
  const before = reply([], { id: 1, status: { state: "finished", reason: "stop" }, steps: [] });
  useStore.setState({ messages: [before, reply([call()])] });
  render(<Reply message={before} last={false} />);
  expect(screen.getByTestId("retry").title).toBe("Answer the question above first.");
});

describe("the message below a question", () => {
  beforeEach(() => {
    for (const name of ["setDraftText", "setDraftFiles", "setDraftPictures"] as const)
      vi.spyOn(shell, name).mockResolvedValue(null);
  });

  it("waits for the answer, and says so", async () => {
    const sent = vi.spyOn(shell, "send").mockResolvedValue();
    useStore.setState({ messages: [reply([call()])] });
    render(<Composer />);
    const user = userEvent.setup();
    expect(screen.queryByTestId("resting-note")).toBeNull();
    await user.type(screen.getByTestId("composer"), "And then?{Enter}");
    expect(sent).not.toHaveBeenCalled();
    expect(screen.getByTestId("send").title).toBe("Answer the question above first.");
    expect(screen.getByTestId("resting-note").textContent).toBe("Answer the question above first.");
    expect(useStore.getState().queued).toEqual({});
  });

  it("has a button that ends the reply", async () => {
    const stopped = vi.spyOn(shell, "stop").mockResolvedValue(null);
    const ended = reply([call({ state: { state: "stopped" } })], {
      status: { state: "finished", reason: "cancelled" },
    });
    vi.spyOn(shell, "readChat").mockResolvedValue(openedChat(5, [{ message: ended, versions: [2] }]));
    useStore.setState({ messages: [reply([call()])] });
    render(<Composer />);
    fireEvent.click(screen.getByTestId("stop"));
    await vi.waitFor(() => expect(stopped.mock.calls).toEqual([[2]]));
    await vi.waitFor(() => expect(screen.queryByTestId("stop")).toBeNull());
  });

  it("that waited already waits on until the reply has ended", async () => {
    followQueue();
    const sent = vi.spyOn(shell, "send").mockResolvedValue();
    ask();
    fireEvent.click(screen.getByTestId("allow-once"));
    await answers();
    const [listener] = listeners;
    act(() =>
      listener?.begun(reply([call({ state: { state: "running" } })], { status: { state: "streaming" } })),
    );
    act(() => enqueue("And then?", [], []));
    act(() => listener?.event(2, { type: "ended", message: reply([call()]) }));
    await act(async () => {});
    expect(sent).not.toHaveBeenCalled();
    expect(useStore.getState().held, "nothing went wrong").toEqual({});
    const finished = reply([], { status: { state: "finished", reason: "stop" } });
    act(() => listener?.event(2, { type: "ended", message: finished }));
    await vi.waitFor(() => expect(sent).toHaveBeenCalledTimes(1));
  });
});
