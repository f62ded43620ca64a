// @vitest-environment happy-dom
import { act, cleanup, fireEvent, render, screen, waitFor } from "@testing-library/react";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Message, ModelInfo, Sent } from "../bridge/bindings";
import { type ReplyListener, shell } from "../bridge/bridge";
import { modelInfo } from "../models/samples";
import { useStore } from "../state/store";
import { enqueue } from "./queue";
import { openedChat, replyStats } from "./samples";
import { askTwoModels, compareHere, compareVersions } from "./sideBySide";
import { VersionsScreen } from "./VersionsScreen";

const initial = useStore.getInitialState();
const state = () => useStore.getState();

const message = (id: number, more: Partial<Message> = {}): Message => ({
  id,
  parent: 1,
  role: "assistant",
  text: `Version ${id}`,
  pictures: [],
  thinking: "",
  steps: [],
  edited: false,
  status: { state: "finished", reason: "stop" },
  stats: replyStats(),
  error: null,
  model: `model-${id}`,
  created_at: 0,
  ...more,
});
const question = message(1, { parent: null, role: "user", text: "Who hoots?", stats: null, model: null });

beforeEach(() => {
  const engine = { state: "ready", model: modelInfo("/owl"), device: "gpu", in_memory: true } as const;
  useStore.setState(
    { ...initial, opened: true, chat: 5, engine, selectedModel: "/owl", messages: [question, message(3)] },
    true,
  );
  vi.spyOn(shell, "attach").mockImplementation(async (id, listener) => listener.begun(message(id)));
  vi.spyOn(shell, "setDraftText").mockResolvedValue(null);
});
afterEach(() => {
  cleanup();
  vi.restoreAllMocks();
});

const column = (side: string) => screen.getByTestId(`version-${side}`).textContent ?? "";

describe("two versions of a reply", () => {
  it("stand side by side, also one that is not shown in the chat", async () => {
    useStore.setState({ versions: { 3: [2, 3] } });
    compareHere();
    expect([state().screen, state().compared]).toEqual(["versions", { left: 2, right: 3 }]);
    render(<VersionsScreen />);
    await waitFor(() => expect(column("left")).toContain("Version 2"));
    for (const words of ["model-2", "58 tok/s", "Version 1 of 2", "seed 1"])
      expect(column("left")).toContain(words);
    expect(column("right")).toContain("model-3");
    expect(screen.getByText("Who hoots?")).toBeTruthy();
  });

  it("are any two of several", async () => {
    useStore.setState({ versions: { 3: [2, 3, 4] } });
    compareVersions(3);
    render(<VersionsScreen />);
    const choice = screen.getByTestId<HTMLSelectElement>("choose-left");
    expect([...choice.options].map(({ value }) => value)).toEqual(["2", "4"]);
    fireEvent.change(choice, { target: { value: "4" } });
    await waitFor(() => expect(column("left")).toContain("model-4"));
  });

  it("are compared by nobody where there is one", () => {
    useStore.setState({ versions: { 3: [3] } });
    compareHere();
    compareVersions(3);
    expect(state().screen).toBe("chat");
  });

  it("are left with the one that is kept, which the chat then shows", async () => {
    useStore.setState({ versions: { 3: [2, 3] } });
    compareVersions(3);
    const kept = [
      { message: question, versions: [1] },
      { message: message(2), versions: [2, 3] },
    ];
    const shown = vi.spyOn(shell, "showMessage").mockResolvedValue(openedChat(5, kept));
    render(<VersionsScreen />);
    await waitFor(() => screen.getByTestId("keep-left"));
    fireEvent.click(screen.getByTestId("keep-left"));
    await waitFor(() => expect(state().messages.at(-1)?.id).toBe(2));
    expect(shown.mock.calls).toEqual([[expect.any(Number), 2]]);
    expect([state().screen, state().jump?.message]).toEqual(["chat", 2]);
  });

  it("are left when their chat is gone", async () => {
    useStore.setState({ versions: { 3: [2, 3] } });
    compareVersions(3);
    render(<VersionsScreen />);
    act(() => useStore.setState({ messages: [], versions: {} }));
    expect(state().screen).toBe("chat");
  });
});

describe("a message to two models", () => {
  const loaded: string[] = [];
  let replies: ReplyListener<Sent>[] = [];
  const streaming = (id: number) => message(id, { text: "", stats: null, status: { state: "streaming" } });
  const end = (at: number, ended: Message) =>
    act(async () => replies[at]?.event(ended.id, { type: "ended", message: ended }));

  beforeEach(() => {
    [loaded.length, replies] = [0, []];
    useStore.setState({ messages: [], versions: {}, drafts: { 5: "Who hoots?" } });
    vi.spyOn(shell, "openModel").mockImplementation(async (path) => {
      loaded.push(path);
      useStore.setState({ selectedModel: path });
      return {} as ModelInfo;
    });
    vi.spyOn(shell, "setDraftFiles").mockResolvedValue(null);
    vi.spyOn(shell, "setDraftPictures").mockResolvedValue(null);
    vi.spyOn(shell, "send").mockImplementation(async (_to, text, _pictures, listener) => {
      replies.push(listener);
      const asked = { ...question, text };
      const added = [asked, streaming(2)].map((message) => ({ message, versions: [message.id] }));
      listener.begun({ chat: 5, messages: added });
    });
    vi.spyOn(shell, "retry").mockImplementation(async (_message, listener) => {
      replies.push(listener);
      listener.begun({ chat: 5, messages: [{ message: streaming(3), versions: [2, 3] }] });
    });
  });

  it("is answered by one after the other, and the second is seen beside the first while it is written", async () => {
    const asked = askTwoModels("/bell", "Bell");
    await waitFor(() => expect(state().live[2]).toBeDefined());
    expect([state().drafts[5], loaded]).toEqual(["", []]);
    await end(0, message(2));
    await waitFor(() => expect(state().compared).toEqual({ left: 2, right: 3 }));
    expect([state().screen, loaded]).toEqual(["versions", ["/bell"]]);
    render(<VersionsScreen />);
    await waitFor(() => expect(column("left")).toContain("Version 2"));
    const text = { thinking: "", answer: "A bell", provenance: { thinking: [], answer: [] } };
    act(() => replies[1]?.event(3, { type: "text", ...text }));
    expect(column("right")).toContain("A bell");
    await end(1, message(3, { text: "A bell rings." }));
    await waitFor(() => expect(column("right")).toContain("A bell rings."));
    await asked;
    expect(loaded).toEqual(["/bell", "/owl"]);
  });

  it("is answered by one alone where more is asked, or it is cancelled, before the second has begun", async () => {
    const asked = askTwoModels("/bell", "Bell");
    await waitFor(() => expect(state().second).toEqual({ chat: 5, name: "Bell" }));
    enqueue("And then?", [], []);
    expect(state().second).toBeNull();
    await end(0, message(2));
    await asked;
    expect([loaded, state().screen]).toEqual([[], "chat"]);
  });

  it("asks no second one where the first was stopped", async () => {
    const stopped = message(2, { status: { state: "finished", reason: "cancelled" } });
    vi.mocked(shell.attach).mockImplementation(async (_id, listener) => listener.begun(stopped));
    const asked = askTwoModels("/bell", "Bell");
    await waitFor(() => expect(state().live[2]).toBeDefined());
    await end(0, stopped);
    await asked;
    expect([loaded, state().screen]).toEqual([[], "chat"]);
  });
});
