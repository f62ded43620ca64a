// @vitest-environment happy-dom
import { cleanup, render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { shell } from "../bridge/bridge";
import { chatSummary } from "../chat/samples";
import { useStore } from "../state/store";
import { ChatRow } from "./ChatRow";

const initial = useStore.getInitialState();

beforeEach(() => {
  useStore.setState({ ...initial, opened: true }, true);
  vi.spyOn(shell, "renameChat").mockResolvedValue(null);
});
afterEach(() => {
  cleanup();
  vi.restoreAllMocks();
});

/** Begins to rename a chat with its menu. */
async function rename() {
  const user = userEvent.setup();
  render(<ChatRow chat={chatSummary(5, { title: "Owls" })} current={false} writing={false} stop />);
  await user.click(screen.getByTestId("chat-more"));
  await user.click(await screen.findByText("Rename"));
  const field = await screen.findByTestId<HTMLInputElement>("rename");
  await vi.waitFor(() => expect(document.activeElement).toBe(field));
  return { user, field };
}

const isClosed = () => vi.waitFor(() => expect(screen.queryByTestId("rename")).toBe(null));

describe("a chat that is renamed in the list", () => {
  it("gets the name with Enter, and then the focus", async () => {
    const { user, field } = await rename();
    expect([field.selectionStart, field.selectionEnd]).toEqual([0, 4]);
    await user.keyboard("Foxes{Enter}");
    await isClosed();
    expect(shell.renameChat).toHaveBeenCalledWith(5, "Foxes");
    await vi.waitFor(() => expect(document.activeElement).toBe(screen.getByTestId("chat")));
  });

  it("keeps its name with Escape", async () => {
    const { user } = await rename();
    await user.keyboard("Foxes{Escape}");
    await isClosed();
    expect(shell.renameChat).not.toHaveBeenCalled();
  });

  it("gets the name where the person clicks elsewhere", async () => {
    const { user } = await rename();
    await user.keyboard("Foxes");
    await user.click(document.body);
    await isClosed();
    expect(shell.renameChat).toHaveBeenCalledTimes(1);
  });
});
