// @vitest-environment happy-dom
import { cleanup, fireEvent, render, screen, within } from "@testing-library/react";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { CallState, Message, ReplyCall, ReplyStep } from "../bridge/bindings";
import { shell } from "../bridge/bridge";
import { formatted } from "../paper/copying";
import type { LiveReply } from "../state/server";
import { useStore } from "../state/store";
import { Reply } from "./Reply";
import { ReplyPage } from "./ReplyPage";
import { partsOf } from "./rounds";
import { openedChat, replyCall, replyStats, replyStep, toolsState } from "./samples";

const initial = useStore.getInitialState();

const reply = (more: Partial<Message> = {}): Message => ({
  id: 2,
  parent: 1,
  role: "assistant",
  text: "",
  pictures: [],
  thinking: "",
  steps: [],
  edited: false,
  model: "owl",
  status: { state: "finished", reason: "stop" },
  stats: replyStats(),
  error: null,
  created_at: 0,
  ...more,
});

const call = (step: number, ordinal: number, more: Partial<ReplyCall> = {}): ReplyCall =>
  replyCall(
    { message: 2, step, ordinal },
    { server: "files", tool: "read_file", arguments_written: '{"path":"a.md"}', ...more },
  );

beforeEach(() => {
  useStore.setState({ ...initial, opened: true, chat: 5, tools: toolsState() }, true);
});
afterEach(() => {
  cleanup();
  vi.restoreAllMocks();
});

function show(more: Partial<Message>, live?: Partial<LiveReply>): void {
  const message = reply(more);
  const written = {
    chat: 5,
    thinking: "",
    answer: "",
    steps: message.steps,
    calling: null,
    thinkingSince: null,
    thoughtSeconds: null,
    before: { thinking: 0, answer: 0 },
    provenance: { thinking: [], answer: [] },
    ...live,
  } as unknown as LiveReply;
  useStore.setState({ messages: [message], live: live ? { 2: written } : {} });
  render(<Reply message={message} last />);
}

/** The parts of the reply in their order, as a person meets them. */
const flow = () =>
  [...screen.getByTestId("message-assistant").children]
    .map((part) => part.getAttribute("data-testid"))
    .filter((part) => part !== null);

describe("a reply that uses tools", () => {
  it("tells its rounds in order: what was thought, what was written, what was called", () => {
    show({
      thinking: "Hm\n\nWell",
      text: "One.\n\nTwo.",
      steps: [
        replyStep(0, { thinking: "Hm", text: "One.", calls: [call(0, 0)] }),
        replyStep(1, { thinking: "Well", text: "Two." }),
      ],
    });
    expect(flow()).toEqual(["thinking", "answer", "call", "thinking", "answer"]);
    expect(screen.getAllByTestId("answer").map((answer) => answer.textContent)).toEqual(["One.", "Two."]);
    const [first, second] = screen.getAllByTestId("thinking-toggle");
    fireEvent.click(second as HTMLElement);
    expect([first, second].map((toggle) => toggle?.getAttribute("aria-expanded"))).toEqual(["false", "true"]);
    expect(screen.getByTestId("message-assistant").textContent).toContain("Well");
  });

  it("is drawn as ever where it has none", () => {
    show({ thinking: "Hm", text: "One." });
    expect(flow()).toEqual(["thinking", "answer"]);
    cleanup();
    show({ status: { state: "streaming" }, stats: null }, { answer: "" });
    expect(flow()).toEqual(["answer", "live-line"]);
  });

  it("keeps what is open in it when its first call comes, and where none has come in the end", () => {
    const thought = { thinking: "Hm", status: { state: "streaming" } as const };
    const written = (message: Partial<Message>) => (
      <Reply message={reply({ stats: null, ...message })} last />
    );
    const isOpen = () => screen.getByTestId("thinking-toggle").getAttribute("aria-expanded");
    const { rerender } = render(written(thought));
    fireEvent.click(screen.getByTestId("thinking-toggle"));
    rerender(written({ ...thought, steps: [replyStep(0, { ...thought, calls: [call(0, 0)] })] }));
    expect([flow(), isOpen()]).toEqual([["thinking", "call", "live-line"], "true"]);
    rerender(written({ thinking: "Hm", text: "One.", status: { state: "finished", reason: "stop" } }));
    expect([flow(), isOpen()]).toEqual([["thinking", "answer"], "true"]);
  });

  it("shows a call while the model writes it", () => {
    show(
      { status: { state: "streaming" }, stats: null },
      {
        steps: [replyStep(0, { status: { state: "streaming" } })],
        calling: { tool: "files__write_file", written: '{"path": "b.md\u202e' },
      },
    );
    const line = screen.getByTestId("calling").textContent;
    expect(line).toContain("My files · write_file");
    expect(line).toContain("b.md⟨U+202E⟩");
    expect(line).toContain("Being written…");
  });

  it("copies the texts of all its rounds", () => {
    show({
      text: "One.\n\nTwo.",
      steps: [replyStep(0, { text: "One.", calls: [call(0, 0)] }), replyStep(1, { text: "Two." })],
    });
    const { html } = formatted(2, "One.\n\nTwo.");
    expect([html.includes("One."), html.includes("Two.")]).toEqual([true, true]);
  });
});

describe("a call", () => {
  const line = () => screen.getByTestId("call").textContent ?? "";
  const showCall = (
    more: Partial<ReplyCall>,
    status: Message["status"] = { state: "finished", reason: "stop" },
  ) => show({ status, steps: [replyStep(0, { calls: [call(0, 0, more)] })] });

  it("says which tool it is, what it is about and how long it took", () => {
    showCall({ started_at: 1000, ended_at: 1800 });
    expect(line()).toBe("My files · read_file · a.md800 ms");
    cleanup();
    showCall({ server: null, tool: "calculator", arguments_written: '{"expression":"12 % of 80"}' });
    expect(line()).toContain("Sums · 12 % of 80");
  });

  it("is named as the model named it where its server is gone", () => {
    showCall({ server: "web\u200b", tool: "read" });
    expect(line()).toContain("web⟨U+200B⟩ · read");
  });

  it.each<[CallState, string]>([
    [{ state: "checking" }, "Being checked"],
    [{ state: "failed" }, "Failed"],
    [{ state: "denied" }, "You said no"],
    [{ state: "stopped" }, "Stopped"],
    [{ state: "timed_out" }, "Took too long"],
    [{ state: "asking" }, "Waits for your answer"],
    [{ state: "refused", reason: "There is no such tool." }, "There is no such tool."],
    [{ state: "unknown" }, "The app ended while this ran. It may or may not have happened."],
  ])("says in plain words how it stands: %o", (state, words) => {
    showCall({ state });
    expect(line()).toContain(words);
    expect(screen.getByTestId("call").dataset.state).toBe(state.state);
  });

  it("shows how long it has been running", () => {
    vi.useFakeTimers({ now: 10_000 });
    showCall({ state: { state: "running" }, started_at: 7000 }, { state: "streaming" });
    expect(line()).toContain("Running… 3 s");
    vi.useRealTimers();
  });

  it("unfolds to its arguments and its result, which is asked for then", async () => {
    const details = vi.spyOn(shell, "callDetails").mockResolvedValue(
      call(0, 0, {
        arguments_sent: '{"path":"a.md"}',
        result: JSON.stringify({
          parts: [
            { kind: "text", text: "Frost\u200b" },
            { kind: "link", address: "https://example.org/x", name: "More" },
            { kind: "picture", media_type: "image/png", data: "AAEC" },
            { kind: "picture", media_type: "image/svg+xml", data: "AAEC" },
          ],
          failed: false,
        }),
        result_for_model: "Frost",
        left_out: 1204,
      }),
    );
    showCall({ decision: "allowed_in_chat" });
    expect(details).not.toHaveBeenCalled();
    fireEvent.click(screen.getByTestId("call-toggle"));
    const shown = within(screen.getByTestId("call-details"));
    await shown.findByText("Result");
    expect(details.mock.calls).toEqual([[{ message: 2, step: 0, ordinal: 0 }]]);
    const words = screen.getByTestId("call-details").textContent ?? "";
    for (const part of [
      "You allowed this tool in this chat.",
      "path",
      "a.md",
      "Frost⟨U+200B⟩",
      "https://example.org/x",
      "A picture that is not shown (image/svg+xml)",
      "What the model got",
      "1,204 tokens were left out.",
    ])
      expect(words).toContain(part);
    expect(shown.getAllByRole("img").map((image) => image.getAttribute("src"))).toEqual([
      "data:image/png;base64,AAEC",
    ]);
    expect(shown.queryAllByRole("link"), "nothing of a result leads out").toEqual([]);
    fireEvent.click(screen.getByTestId("call-toggle"));
    expect(screen.queryByTestId("call-details")).toBeNull();
  });

  it("tells what the model got only where that is something else", async () => {
    vi.spyOn(shell, "callDetails").mockResolvedValue(
      call(0, 0, {
        result: JSON.stringify({ parts: [{ kind: "text", text: "Frost" }], failed: false }),
        result_for_model: "Frost",
      }),
    );
    showCall({});
    fireEvent.click(screen.getByTestId("call-toggle"));
    await screen.findByText("Frost");
    expect(screen.queryByText("What the model got")).toBeNull();
  });

  it("tells what a person has changed of its arguments, and not that JSON is written in another way", async () => {
    vi.spyOn(shell, "callDetails").mockImplementation(async () =>
      call(0, 0, { arguments_sent: '{ "path": "b.md" }' }),
    );
    showCall({ arguments_sent: '{ "path": "b.md" }' });
    expect(line()).toContain("b.md");
    fireEvent.click(screen.getByTestId("call-toggle"));
    await screen.findByText("Arguments, as you changed them");
    expect(screen.getByText("Arguments, as the model wrote them")).toBeTruthy();
    cleanup();
    vi.spyOn(shell, "callDetails").mockImplementation(async () =>
      call(0, 0, { arguments_sent: '{ "path": "a.md" }' }),
    );
    showCall({ arguments_sent: '{ "path": "a.md" }' });
    fireEvent.click(screen.getByTestId("call-toggle"));
    expect(await screen.findByText("Arguments")).toBeTruthy();
    expect(screen.queryByText("Arguments, as the model wrote them")).toBeNull();
  });

  it("says why its result cannot be shown", async () => {
    vi.spyOn(shell, "callDetails").mockRejectedValue(new Error("no"));
    showCall({});
    fireEvent.click(screen.getByTestId("call-toggle"));
    expect((await screen.findByRole("alert")).textContent).toContain("The result cannot be shown");
  });
});

describe("calls in a row", () => {
  const kinds = (steps: ReplyStep[], writing = false) =>
    partsOf(steps, writing).map((part) => (part.kind === "group" ? part.calls.length : part.kind));
  const three = [call(0, 0), call(0, 1), call(0, 2)];

  it("are folded from three on, over rounds that said nothing", () => {
    expect(kinds([replyStep(0, { calls: three })])).toEqual([3]);
    expect(kinds([replyStep(0, { calls: three.slice(1) })])).toEqual(["call", "call"]);
    const rounds = [0, 1, 2].map((step) => replyStep(step, { calls: [call(step, 0)] }));
    expect(kinds(rounds)).toEqual([3]);
    const [first, second, third] = rounds as [ReplyStep, ReplyStep, ReplyStep];
    expect(kinds([first, { ...second, text: "So." }, third])).toEqual(["call", "text", "call", "call"]);
  });

  it("are not folded where one did not go well, or runs", () => {
    for (const state of ["failed", "unknown", "running", "denied"] as const)
      expect(
        kinds([replyStep(0, { calls: [call(0, 0), call(0, 1, { state: { state } }), call(0, 2)] })]),
      ).toEqual(["call", "call", "call"]);
  });

  it("stay as they are while the reply is written and nothing has followed them", () => {
    expect(kinds([replyStep(0, { calls: three })], true)).toEqual(["call", "call", "call"]);
    expect(kinds([replyStep(0, { calls: three }), replyStep(1, { text: "So." })], true)).toEqual([3, "text"]);
  });

  it("unfold on a click", () => {
    show({ steps: [replyStep(0, { calls: three })] });
    expect(screen.getByTestId("call-group-toggle").textContent).toContain("3 steps");
    expect(screen.queryAllByTestId("call")).toHaveLength(0);
    fireEvent.click(screen.getByTestId("call-group-toggle"));
    expect(screen.getAllByTestId("call")).toHaveLength(3);
  });
});

describe("a reply that rests", () => {
  const paused = {
    status: { state: "paused" } as const,
    stats: null,
    steps: Array.from({ length: 8 }, (_, step) => replyStep(step, { calls: [call(step, 0)] })),
  };

  it("goes on once it is told to, or ends", async () => {
    const goesOn = vi.spyOn(shell, "continue").mockResolvedValue();
    const stopped = vi.spyOn(shell, "stop").mockResolvedValue(null);
    vi.spyOn(shell, "readChat").mockResolvedValue(openedChat(5));
    show(paused);
    expect(screen.getByTestId("resting").textContent).toContain("Used tools for 8 rounds.");
    expect(screen.queryByTestId("retry")).toBeNull();
    fireEvent.click(screen.getByTestId("go-on"));
    await vi.waitFor(() => expect(goesOn.mock.calls[0]?.[0]).toBe(2));
    fireEvent.click(screen.getByTestId("end-paused"));
    await vi.waitFor(() => expect(stopped.mock.calls).toEqual([[2]]));
    await vi.waitFor(() => expect(useStore.getState().messages, "the chat is read again").toEqual([]));
  });

  it("can be gone on with where it was interrupted after calls alone", () => {
    show({ status: { state: "interrupted" }, stats: null, steps: [replyStep(0, { calls: [call(0, 0)] })] });
    expect(screen.getByTestId("continue").textContent).toBe("Go on from here");
  });
});

describe("how a reply with tools was made", () => {
  const plain = { tokens_per_second: 58.3 / 1.9, source: "tune", measured_at: 0 } as const;
  const steps = [
    replyStep(0, {
      calls: [call(0, 0)],
      stats: replyStats({ emitted: 61, positions: [{ drafted: 50, accepted: 40 }] }),
    }),
    replyStep(1, { stats: replyStats({ emitted: 34, positions: [{ drafted: 10, accepted: 9 }] }) }),
  ];

  it("is told by rounds", () => {
    render(
      <ReplyPage
        message={reply({ steps, stats: replyStats({ plain }) })}
        question={reply({ id: 1, role: "user" })}
      />,
    );
    fireEvent.click(screen.getByTestId("rounds-fold"));
    const rows = within(screen.getByTestId("parts")).getAllByRole("row").slice(1);
    expect(rows.map((row) => row.textContent)).toEqual([
      expect.stringMatching(/^Round 161.*80 %$/),
      expect.stringMatching(/^Round 234.*90 %$/),
    ]);
  });

  it("is not compared with plain decoding", () => {
    const shown = reply({ steps, stats: replyStats({ plain }) });
    render(<ReplyPage message={shown} question={reply({ id: 1, role: "user" })} />);
    expect(screen.getByTestId("story").textContent).toBe("Each pass wrote 1.8 words (tokens).");
    expect(screen.queryByTestId("compare-reply")).toBeNull();
    expect(screen.queryByTestId("measure-gain")).toBeNull();
    cleanup();
    show({ steps, text: "So.", stats: replyStats({ plain }) });
    expect(screen.getByTestId("reply-footer").textContent).not.toContain("plain");
    cleanup();
    show({ text: "So.", stats: replyStats({ plain }) });
    expect(screen.getByTestId("reply-footer").textContent).toContain("1.9× plain");
  });
});
