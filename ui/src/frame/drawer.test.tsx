// @vitest-environment happy-dom
import { act, cleanup, render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { useStore } from "../state/store";
import { toggleSidebar } from "./drawer";
import { Sidebar } from "./Sidebar";
import { TitleStart } from "./TitleStart";
import { sidebarShown } from "./view";

vi.mock("../bridge/bridge", () => ({ shell: {}, reportOf: (error: unknown) => error }));

const initial = useStore.getInitialState();
beforeEach(() => useStore.setState(initial, true));
afterEach(cleanup);

/** The window as far as it has to do with the sidebar. */
function Frame() {
  const shown = useStore(sidebarShown);
  return (
    <>
      {shown && <Sidebar />}
      <div className="stage">
        <TitleStart />
        <textarea data-testid="composer" />
      </div>
    </>
  );
}

it("remembers the place of the sidebar apart from its being called over a narrow page", () => {
  const { getState, setState } = useStore;
  setState({ narrow: true });
  expect(sidebarShown(getState())).toBe(false);
  toggleSidebar();
  expect(getState()).toMatchObject({ drawer: true, sidebar: true });
  toggleSidebar();
  expect(getState()).toMatchObject({ drawer: false, sidebar: true });
  setState({ narrow: false });
  toggleSidebar();
  expect(getState()).toMatchObject({ drawer: false, sidebar: false });
});

it("takes the focus while it lies over the page, and gives it back", async () => {
  const user = userEvent.setup();
  useStore.setState({ narrow: true });
  render(<Frame />);
  expect(screen.getByTestId("new-chat").textContent).toBe("");
  screen.getByTestId("composer").focus();
  act(toggleSidebar);
  expect(document.activeElement).toBe(screen.getByTestId("sidebar"));
  await user.tab();
  expect(screen.getByTestId("sidebar").contains(document.activeElement)).toBe(true);
  act(toggleSidebar);
  expect(document.activeElement).toBe(screen.getByTestId("composer"));
});

it("goes when the focus goes on to the page", () => {
  useStore.setState({ narrow: true });
  render(<Frame />);
  act(toggleSidebar);
  act(() => screen.getByTestId("chat-search").focus());
  expect(screen.queryByTestId("sidebar")).not.toBeNull();
  act(() => screen.getByTestId("composer").focus());
  expect(screen.queryByTestId("sidebar")).toBeNull();
  expect(document.activeElement).toBe(screen.getByTestId("composer"));
});

it("stays in its place in a wide window, whatever has the focus", () => {
  render(<Frame />);
  screen.getByTestId("chat-search").focus();
  act(() => screen.getByTestId("composer").focus());
  expect(screen.queryByTestId("sidebar")).not.toBeNull();
  expect(screen.getAllByTestId("new-chat")).toHaveLength(1);
});
