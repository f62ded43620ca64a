// @vitest-environment happy-dom
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { useStore } from "../state/store";
import { closeNearest } from "./escape";

vi.mock("../bridge/bridge", () => ({ shell: {}, reportOf: (error: unknown) => error }));

const initial = useStore.getInitialState();
beforeEach(() => useStore.setState(initial, true));
afterEach(() => document.body.replaceChildren());

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
  find: { chat: 1, query: "owl", current: { message: 1, nth: 0 } },
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
    expect(closeNearest(document.body)).toBe("nothing was open");
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
    expect(closeNearest(document.body)).toBe("nothing was open");
  });

  it("is left to what closes by itself", () => {
    useStore.setState(everything);
    document.body.innerHTML = '<input data-escape /><div class="popover"></div>';
    const field = document.querySelector("input") as HTMLInputElement;
    expect(closeNearest(document.body), "a popover").toBe("left to it");
    document.querySelector(".popover")?.remove();
    expect(closeNearest(field), "what is being changed").toBe("left to it");
    field.removeAttribute("data-escape");
    field.type = "search";
    field.value = "qwen";
    expect(closeNearest(field), "a search on another screen").toBe("left to it");
    expect(open()).toHaveLength(4);
    field.value = "";
    expect(closeNearest(field), "an empty one").toBe("closed");
    expect(open()).not.toContain("screen");
  });
});
