// @vitest-environment happy-dom
import { act, cleanup, render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { createElement } from "react";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { JobCancel } from "../models/JobCancel";
import { SearchForm } from "../models/SearchForm";
import { job } from "../models/samples";
import { useStore } from "../state/store";
import { closeNearest } from "./escape";

vi.mock("../bridge/bridge", () => ({ shell: {}, reportOf: (error: unknown) => error }));

const initial = useStore.getInitialState();
beforeEach(() => useStore.setState(initial, true));
afterEach(() => {
  cleanup();
  document.body.replaceChildren();
});

/** What is open of all that Escape puts away. */
function open(): string[] {
  const { narrow, drawer, screen, find, query, inspector } = useStore.getState();
  const parts = {
    sidebar: narrow && drawer,
    screen: screen !== "chat",
    find: find !== null,
    search: query !== "",
    panel: inspector,
  };
  return Object.entries(parts).flatMap(([name, isOpen]) => (isOpen ? [name] : []));
}

const everything = {
  screen: "models" as const,
  chat: 1,
  find: { chat: 1, query: "owl", current: { message: 1, thought: false, nth: 0 }, field: false },
  query: "owl",
  inspector: true,
};

describe("Escape", () => {
  it("puts away one thing after the other, the nearest first", () => {
    useStore.setState(everything);
    const left = Array.from({ length: 4 }, () => [closeNearest(document.body), open()]);
    expect(left).toEqual([
      ["closed", ["find", "search", "panel"]],
      ["closed", ["search", "panel"]],
      ["closed", ["panel"]],
      ["closed", []],
    ]);
    expect(closeNearest(document.body)).toBe("nothing-open");
  });

  it("puts away the sidebar over the page before all that it lies over", () => {
    useStore.setState({ ...everything, narrow: true, drawer: true });
    expect(closeNearest(document.body)).toBe("closed");
    expect(open()).toEqual(["screen", "find", "search", "panel"]);
  });

  it("leaves a search alone that is not seen", () => {
    useStore.setState({ query: "owl", sidebar: false, inspector: true });
    expect(closeNearest(document.body)).toBe("closed");
    expect(open()).toEqual(["search"]);
    expect(closeNearest(document.body)).toBe("nothing-open");
  });

  it("is left to what closes by itself", () => {
    useStore.setState(everything);
    document.body.innerHTML = '<input data-escape /><div class="popover"></div>';
    const field = document.querySelector("input") as HTMLInputElement;
    expect(closeNearest(document.body), "a popover").toBe("left-to-it");
    document.querySelector(".popover")?.remove();
    expect(closeNearest(field), "what is being changed").toBe("left-to-it");
    expect(open()).toHaveLength(4);
  });

  it("leads out of the search of the Hub before it leads out of the screen", () => {
    useStore.setState(everything);
    render(createElement(SearchForm));
    const field = screen.getByTestId("search");
    const { filter } = initial;
    act(() => useStore.setState({ filter: { ...filter, text: "qwen" } }));
    expect(closeNearest(field), "a text").toBe("left-to-it");
    act(() => useStore.setState({ filter, found: { models: [], asking: false, error: null } }));
    expect(closeNearest(field), "what was found, after the text was removed").toBe("left-to-it");
    expect(open()).toContain("screen");
    act(() => useStore.setState({ found: null }));
    expect(closeNearest(field), "nothing").toBe("closed");
    expect(open()).not.toContain("screen");
  });

  it("answers the question whether to cancel work, and leaves the screen alone", async () => {
    useStore.setState(everything);
    const closed = vi.fn();
    render(createElement(JobCancel, { job: job(1, { stage: "paused" }), onClose: closed }));
    const question = screen.getByTestId("confirm-cancel");
    expect(closeNearest(question)).toBe("left-to-it");
    await userEvent.setup().keyboard("{Escape}");
    expect(closed).toHaveBeenCalledOnce();
    expect(open()).toContain("screen");
  });
});
