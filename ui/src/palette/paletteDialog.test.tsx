// @vitest-environment happy-dom
import { cleanup, render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { shell } from "../bridge/bridge";
import { setView, useStore } from "../state/store";
import { Palette } from "./Palette";

const initial = useStore.getInitialState();

beforeEach(() => {
  useStore.setState({ ...initial, opened: true }, true);
  // `scrollIntoView` is there in every browser, but not in this document.
  Element.prototype.scrollIntoView ??= () => {};
  vi.spyOn(shell, "searchChats").mockResolvedValue({
    chats: [],
    places: 0,
    counts: { all: 0, pinned: 0, week: 0, tags: [] },
    capped: false,
    searched: null,
  });
});
afterEach(() => {
  cleanup();
  vi.restoreAllMocks();
});

async function open() {
  const user = userEvent.setup();
  const done: string[] = [];
  render(
    <>
      <button type="button" data-testid="opener" onClick={() => setView({ palette: true })}>
        Palette
      </button>
      <Palette run={(id) => done.push(id) > 0} />
    </>,
  );
  await user.click(screen.getByTestId("opener"));
  const field = await screen.findByTestId("palette-field");
  await vi.waitFor(() => expect(document.activeElement).toBe(field));
  return { user, done, field };
}

const selected = () =>
  document.querySelector(".palette-choice[aria-selected=true] .palette-name")?.textContent;
const isClosed = () => vi.waitFor(() => expect(screen.queryByTestId("palette-field")).toBe(null));

describe("the palette with hands on the keys", () => {
  it("chooses what the arrows have selected, once it is closed", async () => {
    const { user, done, field } = await open();
    await user.type(field, "zoom");
    await user.clear(field);
    await user.type(field, "chats");
    const names = screen.getAllByTestId("palette-choice").map((choice) => choice.textContent);
    expect(names.length).toBeGreaterThan(2);
    const first = selected();
    await user.keyboard("{ArrowDown}");
    expect(selected()).not.toBe(first);
    await user.keyboard("{ArrowUp}{ArrowUp}");
    expect(names.at(-1)).toContain(selected());
    await user.keyboard("{ArrowDown}");
    expect(selected()).toBe(first);
    expect(done).toEqual([]);
    await user.keyboard("{Enter}");
    await isClosed();
    await vi.waitFor(() => expect(done).toHaveLength(1));
  });

  it("chooses what is clicked", async () => {
    const { user, done, field } = await open();
    await user.type(field, "larger");
    await user.click(screen.getByText("Larger"));
    await isClosed();
    await vi.waitFor(() => expect(done).toEqual(["zoom_in"]));
  });

  it("closes with Escape, does nothing, and gives the focus back", async () => {
    const { user, done, field } = await open();
    await user.type(field, "larger");
    await user.keyboard("{Escape}");
    await isClosed();
    await vi.waitFor(() => expect(document.activeElement).toBe(screen.getByTestId("opener")));
    expect(done).toEqual([]);
  });
});
