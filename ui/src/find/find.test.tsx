// @vitest-environment happy-dom
import { act, cleanup, fireEvent, render, screen } from "@testing-library/react";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Message } from "../bridge/bindings";
import { withFiles } from "../chat/attachments";
import { Markdown } from "../markdown/Markdown";
import { useStore } from "../state/store";
import { findHere } from "./actions";
import { FindBar } from "./FindBar";
import { drawnMatches, rangesIn } from "./marks";
import { matchesOf } from "./matches";
import { parseQuery } from "./query";

// It is there in every browser, but not in this document.
globalThis.StaticRange ??= class {
  constructor(init: StaticRangeInit) {
    Object.assign(this, init);
  }
} as typeof StaticRange;

const initial = useStore.getInitialState();
beforeEach(() => useStore.setState(initial, true));
afterEach(cleanup);

const message = (id: number, role: Message["role"], text: string, more: Partial<Message> = {}): Message => ({
  id,
  parent: null,
  role,
  text,
  pictures: [],
  thinking: "",
  steps: [],
  edited: false,
  status: { state: "finished", reason: "stop" },
  stats: null,
  error: null,
  model: null,
  created_at: 0,
  ...more,
});

const places = (messages: Message[], query: string) =>
  matchesOf(messages, query).map(({ message, nth }) => `${message}.${nth}`);

describe("the matches of a chat", () => {
  const messages = [
    message(1, "user", "Is that frost?"),
    message(2, "assistant", "Not **frost**, but [near](https://frost.example/frost) to Fröst."),
    message(3, "user", withFiles("Read this", [{ name: "a.txt", text: "frost and more frost" }])),
    message(4, "assistant", "No ice."),
    message(5, "assistant", "frost", { status: { state: "streaming" } }),
  ];

  it("are in order, without what is not shown and what is not written yet", () => {
    expect(places(messages, "frost")).toEqual(["1.0", "2.0", "2.1", "3.0"]);
  });

  it("are only in messages that hold every word", () => {
    expect(places(messages, "frost near")).toEqual(["2.0", "2.1", "2.2"]);
    expect(places(messages, "frost absent")).toEqual([]);
    expect(places(messages, " ")).toEqual([]);
  });

  it("are in what was thought too, before the answer", () => {
    const thought = message(6, "assistant", "Frost it is.", { thinking: "Frost or snow? Frost." });
    expect(matchesOf([thought], "frost")).toEqual([
      { message: 6, thought: true, nth: 0 },
      { message: 6, thought: true, nth: 1 },
      { message: 6, thought: false, nth: 0 },
    ]);
    expect(matchesOf([thought], "snow")).toEqual([{ message: 6, thought: true, nth: 0 }]);
  });
});

/** What is marked below `root`. */
const marked = (ranges: StaticRange[]) =>
  ranges.map(({ startContainer, startOffset, endContainer, endOffset }) => {
    const range = document.createRange();
    range.setStart(startContainer, startOffset);
    range.setEnd(endContainer, endOffset);
    return range.toString();
  });

describe("the marks in a text", () => {
  function drawn(text: string): Element {
    return render(<Markdown text={text} complete />).container;
  }
  const marksOf = (text: string, query: string, whole = false) =>
    marked(rangesIn(drawn(text), parseQuery(query), whole));

  it("stand in what is drawn, whatever it is written with", () => {
    expect(marksOf("Not **Frost**, `frost` or [frosty](https://frost.example) *fr*ost", "frost")).toEqual([
      "Frost",
      "frost",
      "frosty",
      "frost",
    ]);
    expect(marksOf("```\nlet frost = 1;\n```\n\n| frost |\n|---|\n| a |", "frost")).toEqual([
      "frost",
      "frost",
    ]);
  });

  it("join no words of two paragraphs, items or lines", () => {
    expect(marksOf("fro\n\nst", "frost")).toEqual([]);
    expect(marksOf("- fro\n- st", "frost")).toEqual([]);
    expect(marksOf("fro  \nst", "frost")).toEqual([]);
  });

  it("hold all words where they must", () => {
    expect(marksOf("frost alone", "frost snow", true)).toEqual([]);
    expect(marksOf("frost alone", "frost snow")).toEqual(["frost"]);
  });

  it("are in the person's words, the answer, and what was thought, and nowhere else", () => {
    const { container } = render(
      <article>
        <div className="thinking-text">A frost?</div>
        <div className="answer">
          The frost.
          <button type="button">frost</button>
        </div>
        <div className="reply-foot">frost</div>
      </article>,
    );
    const { text, thought } = drawnMatches(container, parseQuery("frost"));
    expect([marked(text), marked(thought)]).toEqual([["frost"], ["frost"]]);
  });
});

describe("the bar over a chat", () => {
  const messages = [1, 2, 3].map((id) => message(id, "user", `frost ${id}`));
  const find = { chat: 7, query: "frost", current: { message: 2, thought: false, nth: 0 }, field: false };
  function show() {
    useStore.setState({ chat: 7, messages, find });
    render(<FindBar />);
  }
  const count = () => screen.getByTestId("find-count").textContent;

  it("says what is looked for, and which match of how many one is at", () => {
    show();
    expect(screen.getByTestId("find-bar").textContent).toContain("“frost” in this chat");
    expect(count()).toBe("Match 2 of 3");
  });

  it("goes to the next match and the one before, round the ends, also by keys", () => {
    show();
    fireEvent.click(screen.getByRole("button", { name: "Next match" }));
    expect(count()).toBe("Match 3 of 3");
    fireEvent.click(screen.getByRole("button", { name: "Next match" }));
    expect(count()).toBe("Match 1 of 3");
    fireEvent.keyDown(screen.getByTestId("find-next"), { key: "ArrowUp" });
    expect(count()).toBe("Match 3 of 3");
    fireEvent.click(screen.getByRole("button", { name: "Previous match" }));
    expect(count()).toBe("Match 2 of 3");
  });

  it("goes on where a message is gone", () => {
    show();
    act(() => useStore.setState({ messages: messages.filter(({ id }) => id !== 2) }));
    expect(count()).toBe("Match – of 2");
    fireEvent.click(screen.getByRole("button", { name: "Previous match" }));
    expect(count()).toBe("Match 2 of 2");
  });

  it("lets the person say what to find, from where they are on", () => {
    useStore.setState({ chat: 7, messages, screen: "chat", find: null });
    render(<FindBar />);
    act(() => void findHere());
    const field = () => screen.getByTestId<HTMLInputElement>("find-field");
    expect(count()).toBe("Match ");
    fireEvent.change(field(), { target: { value: "frost" } });
    expect(count()).toBe("Match 1 of 3");
    fireEvent.keyDown(field(), { key: "Enter" });
    expect(count()).toBe("Match 2 of 3");
    fireEvent.change(field(), { target: { value: "frost 3" } });
    expect(count()).toBe("Match 1 of 2");
    expect(useStore.getState().find?.current.message).toBe(3);
    fireEvent.keyDown(field(), { key: "Enter", shiftKey: true });
    expect(count()).toBe("Match 2 of 2");
    fireEvent.change(field(), { target: { value: "snow" } });
    expect(count()).toBe("Match – of 0");
    // Whoever is there already means all chats.
    field().focus();
    expect(findHere()).toBe(false);
    act(() => useStore.setState({ find: null, messages: [] }));
    expect(findHere()).toBe(false);
  });

  it("goes when it is closed, and in another chat", () => {
    show();
    act(() => useStore.setState({ chat: 8 }));
    expect(screen.queryByTestId("find-bar")).toBeNull();
    act(() => useStore.setState({ chat: 7 }));
    fireEvent.click(screen.getByRole("button", { name: "Close" }));
    expect(useStore.getState().find).toBeNull();
  });
});
