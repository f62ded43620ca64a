// @vitest-environment happy-dom
import { cleanup, render, screen } from "@testing-library/react";
import { afterEach, describe, expect, it } from "vitest";
import type { Message } from "../bridge/bindings";
import { modelInfo } from "../models/samples";
import { useStore } from "../state/store";
import { Reply } from "./Reply";
import { replyStats } from "./samples";

const initial = useStore.getInitialState();
const reply: Message = {
  id: 2,
  parent: 1,
  role: "assistant",
  text: "An owl",
  pictures: [],
  thinking: "",
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
