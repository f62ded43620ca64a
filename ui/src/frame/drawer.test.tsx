// @vitest-environment happy-dom
import { act, cleanup, render, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { inspectReply, toggleInspector } from "../chat/actions";
import { useStore } from "../state/store";
import { closeDrawer, toggleSidebar } from "./drawer";
import { Sidebar } from "./Sidebar";
import { TitleStart } from "./TitleStart";
import { useNarrow } from "./useNarrow";
import { sidebarShown } from "./view";

vi.mock("../bridge/bridge", () => ({ shell: {}, reportOf: (error: unknown) => error }));

const initial = useStore.getInitialState();
beforeEach(() => useStore.setState(initial, true));
afterEach(cleanup);

/** The window as far as it has to do with the sidebar; a screen other than the chat has no composer. */
function Frame({ composer = true }) {
  const shown = useStore(sidebarShown);
  useNarrow();
  return (
    <>
      {shown && <Sidebar />}
      <div className="stage">
        <TitleStart />
        {composer && <textarea data-testid="composer" />}
      </div>
    </>
  );
}

/** Gives the window a width, as its size or a zoom does. */
let resize = (_width: number): void => {};
beforeEach(() => {
  const query = Object.assign(new EventTarget(), { matches: false });
  vi.spyOn(window, "matchMedia").mockReturnValue(query as unknown as MediaQueryList);
  resize = (width) => {
    query.matches = width < 760;
    query.dispatchEvent(new Event("change"));
  };
});
afterEach(() => vi.restoreAllMocks());

/** Shows the window, narrow from the beginning. */
function openNarrow(frame = <Frame />) {
  resize(720);
  render(frame);
}

const focused = () => document.activeElement;
const sidebar = () => screen.queryByTestId("sidebar");

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
  openNarrow();
  expect(screen.getByTestId("new-chat").textContent).toBe("");
  screen.getByTestId("composer").focus();
  act(toggleSidebar);
  expect(focused()).toBe(sidebar());
  await user.tab();
  expect(sidebar()?.contains(focused())).toBe(true);
  act(toggleSidebar);
  expect(focused()).toBe(screen.getByTestId("composer"));
});

it.each([true, false])("leads back to the button that called it, composer: %s", async (composer) => {
  const user = userEvent.setup();
  openNarrow(<Frame composer={composer} />);
  await user.click(screen.getByTestId("sidebar-toggle"));
  expect(focused()).toBe(sidebar());
  act(closeDrawer);
  await waitFor(() => expect(focused()).toBe(screen.getByTestId("sidebar-toggle")));
  expect(focused()?.getAttribute("aria-label")).toBe("Show the sidebar");
});

it("leaves the focus to what takes it meanwhile", async () => {
  const user = userEvent.setup();
  openNarrow();
  await user.click(screen.getByTestId("sidebar-toggle"));
  act(closeDrawer);
  screen.getByTestId("composer").focus();
  await new Promise((resolve) => requestAnimationFrame(resolve));
  await new Promise((resolve) => requestAnimationFrame(resolve));
  expect(focused()).toBe(screen.getByTestId("composer"));
});

it("goes when the focus goes on to the page", () => {
  openNarrow();
  act(toggleSidebar);
  act(() => screen.getByTestId("chat-search").focus());
  expect(sidebar()).not.toBeNull();
  act(() => screen.getByTestId("composer").focus());
  expect(sidebar()).toBeNull();
  expect(focused()).toBe(screen.getByTestId("composer"));
});

it("stays in its place in a wide window, whatever has the focus", () => {
  render(<Frame />);
  screen.getByTestId("chat-search").focus();
  act(() => screen.getByTestId("composer").focus());
  expect(sidebar()).not.toBeNull();
  expect(screen.getAllByTestId("new-chat")).toHaveLength(1);
});

it("keeps the focus when the window becomes wide and narrow again", async () => {
  openNarrow();
  screen.getByTestId("composer").focus();
  act(toggleSidebar);
  const search = screen.getByTestId("chat-search");
  act(() => search.focus());
  const left = vi.fn();
  search.addEventListener("blur", left);
  act(() => resize(1100));
  expect(focused()).toBe(search);
  expect(left).not.toHaveBeenCalled();
  expect(useStore.getState().drawer).toBe(false);
  act(() => resize(720));
  expect(focused(), "whoever is in it has called it").toBe(search);
  expect(useStore.getState().drawer).toBe(true);
  act(closeDrawer);
  await waitFor(() => expect(focused()).toBe(screen.getByTestId("sidebar-toggle")));
});

it("goes when the window becomes narrow and the focus is on the page", () => {
  render(<Frame />);
  screen.getByTestId("composer").focus();
  act(() => resize(720));
  expect(sidebar()).toBeNull();
  expect(focused()).toBe(screen.getByTestId("composer"));
});

it("stays with a menu that was opened from it, and leaves it the focus", async () => {
  const user = userEvent.setup();
  render(<Frame />);
  await user.click(screen.getByTestId("chats-more"));
  const menu = await screen.findByRole("menu");
  await waitFor(() => expect(menu.contains(focused())).toBe(true));
  act(() => resize(720));
  expect(menu.isConnected).toBe(true);
  expect(menu.contains(focused())).toBe(true);
  await user.keyboard("{Escape}");
  await waitFor(() => expect(focused()).toBe(screen.getByTestId("chats-more")));
  expect(sidebar()).not.toBeNull();
});

it("leads to its button where the window becomes wide and it has no place there", async () => {
  useStore.setState({ sidebar: false });
  openNarrow();
  act(toggleSidebar);
  act(() => resize(1100));
  expect(sidebar()).toBeNull();
  await waitFor(() => expect(focused()).toBe(screen.getByTestId("sidebar-toggle")));
});

it.each([
  ["the panel", toggleInspector],
  ["the panel on a reply", () => inspectReply(2)],
])("goes when %s is opened, over which it would lie", (_, open) => {
  openNarrow();
  act(toggleSidebar);
  act(open);
  expect(sidebar()).toBeNull();
  expect(useStore.getState().inspector).toBe(true);
});
