// @vitest-environment happy-dom
import { cleanup, render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, describe, expect, it, vi } from "vitest";
import { MenuButton } from "./MenuButton";

afterEach(cleanup);

function open() {
  const chosen: string[] = [];
  const entry = (name: string, reason: string | null = null) => ({
    name,
    reason,
    onSelect: () => chosen.push(name),
  });
  render(
    <>
      <MenuButton
        label="More"
        testId="more"
        entries={[entry("Branch"), entry("Delete", "A reply is being written."), entry("Export")]}
      >
        …
      </MenuButton>
      <p data-testid="elsewhere">A reply</p>
    </>,
  );
  return { chosen, user: userEvent.setup(), button: screen.getByTestId("more") };
}

/** What the focused entry says. */
const focused = () => document.activeElement?.textContent;
const isClosed = () => vi.waitFor(() => expect(screen.queryByRole("menu")).toBe(null));

describe("a menu button", () => {
  it("opens with a click, and does what is clicked", async () => {
    const { chosen, user, button } = open();
    expect(screen.queryByRole("menu")).toBe(null);
    await user.click(button);
    await user.click(await screen.findByText("Export"));
    expect(chosen).toEqual(["Export"]);
    await isClosed();
  });

  it("goes through its entries with the arrows, those that cannot be chosen too, which say why", async () => {
    const { chosen, user, button } = open();
    button.focus();
    await user.keyboard("{Enter}");
    await vi.waitFor(() => expect(focused()).toBe("Branch"));
    await user.keyboard("{ArrowDown}");
    await vi.waitFor(() => expect(focused()).toBe("DeleteA reply is being written."));
    await user.keyboard("{Enter}");
    expect([chosen, screen.queryByRole("menu") === null]).toEqual([[], false]);
    await user.keyboard("{ArrowDown}");
    await vi.waitFor(() => expect(focused()).toBe("Export"));
    await user.keyboard("{Enter}");
    expect(chosen).toEqual(["Export"]);
    await isClosed();
    await vi.waitFor(() => expect(document.activeElement).toBe(button));
  });

  it("closes with Escape, and gives the focus back", async () => {
    const { chosen, user, button } = open();
    await user.click(button);
    await screen.findByRole("menu");
    await user.keyboard("{Escape}");
    await isClosed();
    await vi.waitFor(() => expect(document.activeElement).toBe(button));
    expect(chosen).toEqual([]);
  });

  it.each(["{Enter}", " ", "{ArrowDown}"])("opens with the key %s, at its first entry", async (key) => {
    const { user, button } = open();
    button.focus();
    await user.keyboard(key);
    await vi.waitFor(() => expect(focused()).toBe("Branch"));
  });

  it("closes with a click outside, which chooses nothing", async () => {
    const { chosen, user, button } = open();
    await user.click(button);
    await screen.findByRole("menu");
    await user.click(screen.getByTestId("elsewhere"));
    await isClosed();
    expect(chosen).toEqual([]);
  });
});
