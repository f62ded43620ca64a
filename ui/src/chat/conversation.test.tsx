// @vitest-environment happy-dom
import { cleanup, render, screen } from "@testing-library/react";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { Message } from "../bridge/bindings";
import { useStore } from "../state/store";
import { Conversation } from "./Conversation";

const initial = useStore.getInitialState();

const question = (id: number): Message => ({
  id,
  parent: id === 1 ? null : id - 1,
  role: "user",
  text: "Who hoots?",
  pictures: [],
  thinking: "",
  steps: [],
  edited: false,
  model: null,
  status: { state: "finished", reason: "stop" },
  stats: null,
  error: null,
  created_at: 0,
});

beforeEach(() => {
  // Without a layout nothing would be in view.
  for (const size of ["clientHeight", "clientWidth"] as const)
    vi.spyOn(HTMLElement.prototype, size, "get").mockReturnValue(100);
});
afterEach(() => {
  cleanup();
  vi.restoreAllMocks();
});

/** Opens a chat, and returns its list. */
function show(count: number): HTMLElement {
  const messages = Array.from({ length: count }, (_, at) => question(at + 1));
  useStore.setState({ ...initial, opened: true, chat: 5, messages }, true);
  render(<Conversation />);
  const turns = screen.getByTestId("conversation").querySelector<HTMLElement>(".turns");
  if (!turns) throw new Error("No turns are drawn.");
  return turns;
}

it("is as high as what is drawn while its end is, with the room below that, so that nothing moves once it is measured", () => {
  const turns = show(3);
  expect(turns.children).toHaveLength(3);
  expect(turns.style.minHeight).toBe("");
  expect(turns.style.paddingBottom).toBe("24px");
});

it("keeps the room of what is not drawn while its end is not", () => {
  const turns = show(40);
  expect(turns.children.length).toBeLessThan(40);
  expect(turns.children.length).toBeGreaterThan(0);
  expect(Number.parseFloat(turns.style.minHeight)).toBeGreaterThan(40 * 24);
});
