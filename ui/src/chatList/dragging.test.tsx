// @vitest-environment happy-dom
import { act, cleanup, fireEvent, render, screen } from "@testing-library/react";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { shell } from "../bridge/bridge";
import { chatSummary, openedChat } from "../chat/samples";
import { closeNearest } from "../frame/escape";
import { project } from "../projects/samples";
import { useStore } from "../state/store";
import { ChatList } from "./ChatList";
import { ChatRow } from "./ChatRow";
import { DragGhost } from "./DragGhost";

const initial = useStore.getInitialState();
const state = () => useStore.getState();

/** A list with a chat, and places that take it: two projects, and the list. */
function Places({ inside = null }: { inside?: number | null }) {
  return (
    <>
      <div data-drop="list" data-testid="list">
        <p data-drop="1" data-testid="first" />
        <p data-drop="2" data-testid="second" />
        <ChatRow chat={chatSummary(5, { project: inside })} current={false} writing={false} stop />
      </div>
      <p data-testid="beside" />
      <DragGhost />
    </>
  );
}

let under: Element | null = null;
const moveTo = (name: string, x = 40) => {
  under = screen.queryByTestId(name);
  fireEvent.pointerMove(window, { clientX: x, clientY: 200, buttons: 1 });
};
const press = (more: object = {}) =>
  fireEvent.pointerDown(screen.getByTestId("chat"), { button: 0, clientX: 10, clientY: 200, ...more });
const letGo = () => {
  fireEvent.pointerUp(window);
  fireEvent.click(screen.getByTestId("chat"));
};

describe("a chat in the list", () => {
  const moved = vi.spyOn(shell, "moveChat");
  const opened = vi.spyOn(shell, "openChat");
  beforeEach(() => {
    moved.mockReset().mockResolvedValue(null);
    opened.mockReset().mockResolvedValue(openedChat(5));
    document.elementFromPoint = () => under;
    Element.prototype.setPointerCapture = () => {};
    const projects = [project(1), project(2)];
    useStore.setState({ ...initial, opened: true, projects, chats: [chatSummary(5)] }, true);
  });
  afterEach(async () => {
    cleanup();
    // What leaves out the click of a release is over then.
    await new Promise((resolve) => setTimeout(resolve));
  });

  it("goes into the project that it is released over, which can be undone, and is not opened", async () => {
    render(<Places />);
    press();
    moveTo("second", 14);
    expect(state().dragged).toBe(null);
    moveTo("second");
    expect(screen.getByTestId("drag-ghost").textContent).toBe("Chat 5Into “Project 2”");
    expect(screen.getByTestId("chat").classList.contains("dragged")).toBe(true);
    act(letGo);
    await vi.waitFor(() => expect(moved.mock.calls).toEqual([[5, 2]]));
    expect(opened).not.toHaveBeenCalled();
    expect(screen.queryByTestId("drag-ghost")).toBe(null);
    await vi.waitFor(() => expect(state().note?.text).toBe("The chat was moved to “Project 2”."));
    await state().note?.undo?.();
    expect(moved.mock.lastCall).toEqual([5, null]);
  });

  it("leaves its project over the list, and stays where it is in its own", async () => {
    const inside = { chat: chatSummary(5, { project: 1 }), excerpt: "" };
    useStore.setState({ chats: [], projectChats: { 1: [inside] } });
    render(<Places inside={1} />);
    press();
    moveTo("first");
    expect(screen.getByTestId("drag-ghost").textContent).toBe("Chat 5");
    act(letGo);
    expect(moved).not.toHaveBeenCalled();
    press();
    moveTo("list");
    expect(screen.getByTestId("drag-ghost").textContent).toBe("Chat 5Out of its project");
    act(letGo);
    await vi.waitFor(() => expect(moved.mock.calls).toEqual([[5, null]]));
  });

  it("stays where it is with Escape, beside all that takes it, and where the mouse was let go unheard", () => {
    render(<Places />);
    press();
    moveTo("first");
    act(() => expect(closeNearest(document.body)).toBe("closed"));
    moveTo("first", 60);
    expect(state().dragged).toBe(null);
    act(letGo);
    press();
    moveTo("beside");
    act(letGo);
    press();
    moveTo("first");
    fireEvent.pointerMove(window, { clientX: 50, clientY: 200, buttons: 0 });
    act(letGo);
    expect(moved).not.toHaveBeenCalled();
  });

  it("is opened by a click, and is not dragged where nothing takes it", async () => {
    render(<Places />);
    press();
    act(letGo);
    await vi.waitFor(() => expect(opened).toHaveBeenCalledTimes(1));
    const still = (more: object = {}) => {
      press(more);
      moveTo("first");
      expect(state().dragged).toBe(null);
      fireEvent.pointerUp(window);
    };
    still({ button: 2 });
    still({ pointerType: "touch" });
    act(() => useStore.setState({ tag: "owls" }));
    still();
    act(() => useStore.setState({ tag: null, projects: [] }));
    still();
  });
});

it("the list says that it takes what is dragged out of a project", () => {
  useStore.setState({
    ...initial,
    opened: true,
    dragged: { id: 5, at: { x: 0, y: 0 }, to: { project: null } },
  });
  render(<ChatList />);
  const list = screen.getByTestId("chat-list");
  expect([list.dataset.drop, list.className]).toEqual(["list", "chat-list takes"]);
  cleanup();
});
