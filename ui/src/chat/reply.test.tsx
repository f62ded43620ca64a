// @vitest-environment happy-dom
import { act, cleanup, fireEvent, render, screen, waitFor } from "@testing-library/react";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { Message } from "../bridge/bindings";
import { shell } from "../bridge/bridge";
import { modelInfo } from "../models/samples";
import { setView, useStore } from "../state/store";
import { Reply } from "./Reply";
import { openedChat, replyStats } from "./samples";

const initial = useStore.getInitialState();
const reply: Message = {
  id: 2,
  parent: 1,
  role: "assistant",
  text: "An owl",
  pictures: [],
  thinking: "",
  steps: [],
  edited: false,
  model: "owl",
  status: { state: "finished", reason: "length" },
  stats: replyStats({ prompt_tokens: 100, emitted: 156 }),
  error: null,
  created_at: 0,
};
const question: Message = { ...reply, id: 1, parent: null, role: "user", text: "Who?", stats: null };

afterEach(cleanup);

/** Shows the reply as the last of a chat with a model that reads so many tokens. */
function show(context_length: number, more: Partial<Message> = {}): void {
  const message = { ...reply, ...more };
  const model = modelInfo("/owl", { context_length });
  const engine = { state: "ready", model, device: "gpu", in_memory: true } as const;
  useStore.setState({ ...initial, opened: true, chat: 5, messages: [question, message], engine }, true);
  render(<Reply message={message} last />);
}

describe("a reply that is edited", () => {
  const button = (name: string) => screen.getByTestId<HTMLButtonElement>(name);

  it("is marked, and the model can go on from it though it is complete", () => {
    show(2000, { status: { state: "finished", reason: "stop" }, stats: null });
    expect(screen.queryByText("Edited")).toBeNull();
    expect(screen.queryByTestId("continue")).toBeNull();
    cleanup();
    show(2000, { status: { state: "finished", reason: "stop" }, stats: null, edited: true });
    expect(screen.getByText("Edited")).toBeTruthy();
    expect(screen.getByTestId("continue").textContent).toBe("Continue");
  });

  it("is saved as it was typed, once something is changed", async () => {
    const saved = vi.spyOn(shell, "editReply").mockResolvedValue(openedChat(5));
    vi.spyOn(shell, "setEdit").mockResolvedValue(null);
    show(2000);
    act(() => setView({ editing: 2 }));
    const field = screen.getByTestId("edit-reply-text");
    fireEvent.keyDown(field, { key: "Enter", ctrlKey: true });
    expect(saved).not.toHaveBeenCalled();
    expect(button("save-reply").getAttribute("aria-disabled")).toBe("true");
    fireEvent.change(field, { target: { value: "An owl\nsleeps" } });
    fireEvent.keyDown(field, { key: "Enter" });
    expect(saved).not.toHaveBeenCalled();
    fireEvent.keyDown(field, { key: "Enter", ctrlKey: true });
    await waitFor(() => expect(saved.mock.calls).toEqual([[expect.any(Number), 2, "An owl\nsleeps"]]));
    await waitFor(() => expect(useStore.getState().edits[2]).toBeNull());
    expect(useStore.getState().editing).toBeNull();
  });

  it("waits to be saved where it was left", () => {
    show(2000);
    act(() => setView({ edits: { 2: { text: "A bell", pictures: null } } }));
    fireEvent.click(screen.getByTestId("edit-reply"));
    expect(screen.getByTestId<HTMLTextAreaElement>("edit-reply-text").value).toBe("A bell");
    fireEvent.keyDown(screen.getByTestId("edit-reply-text"), { key: "Escape" });
    expect(screen.queryByTestId("edit-reply")).toBeNull();
  });
});

describe("a reply that was cut", () => {
  it("goes on where there is room", () => {
    show(257);
    expect(screen.getByTestId("continue").className).toContain("primary");
  });

  it("cannot go on where the model can read no more", () => {
    show(256);
    expect(screen.queryByTestId("continue")).toBeNull();
    expect(screen.getByTestId("retry").textContent).toBe("Again");
  });

  it("has no main button beside that of a new chat where it was interrupted there", () => {
    show(257, { status: { state: "interrupted" } });
    expect(screen.getByTestId("continue").className).toContain("primary");
    cleanup();
    show(256, { status: { state: "interrupted" } });
    expect(screen.queryByTestId("continue")).toBeNull();
    expect(screen.getByTestId("retry").className).toBe("button");
  });
});
