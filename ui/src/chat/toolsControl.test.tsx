// @vitest-environment happy-dom
import { act, cleanup, render, screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { ChatSettings, Message } from "../bridge/bindings";
import { shell } from "../bridge/bridge";
import { modelInfo } from "../models/samples";
import { DEFAULT_CHAT_SETTINGS } from "../state/server";
import { type State, useStore } from "../state/store";
import { replyCall, replyStep, toolServer, toolsState } from "./samples";
import { ToolsControl } from "./ToolsControl";
import { sourcesOf, withSource } from "./tools";

const initial = useStore.getInitialState();
const kept: [number, ChatSettings][] = [];

beforeEach(() => {
  kept.length = 0;
  const off = toolServer({ slug: "web", name: "Web", enabled: false });
  const stopped = toolServer({ slug: "notes", name: "Notes", status: { state: "stopped" } });
  const tools = toolsState({ servers: [toolServer(), stopped, off] });
  useStore.setState({ ...initial, opened: true, chat: 5, tools }, true);
  vi.spyOn(shell, "setChatSettings").mockImplementation(async (chat, settings) => {
    kept.push([chat, settings]);
    return null;
  });
});
afterEach(() => {
  cleanup();
  vi.restoreAllMocks();
});

const chosen = (...tools: string[]) =>
  useStore.setState({ chatSettings: { ...DEFAULT_CHAT_SETTINGS, tools } });
const answeredBy = (tools: boolean) =>
  useStore.setState({
    engine: { state: "ready", model: modelInfo("/m", { tools }), device: "cpu" } as State["engine"],
  });
const word = () => screen.getByTestId("tools-control");
const source = (id: string) => screen.getByTestId(`tool-source-${id}`);

async function open() {
  const user = userEvent.setup();
  render(<ToolsControl />);
  await user.click(word());
  await screen.findByTestId("tools-popover");
  return user;
}

/** A reply of the open chat, with a call or without one. */
const replied = (id: number, calls: number): Message => ({
  id,
  parent: 1,
  role: "assistant",
  text: "So.",
  pictures: [],
  thinking: "",
  steps: calls > 0 ? [replyStep(0, { calls: [replyCall({ message: id, step: 0, ordinal: 0 })] })] : [],
  edited: false,
  model: null,
  status: { state: "finished", reason: "stop" },
  stats: null,
  error: null,
  created_at: 0,
});

describe("the word for tools below the message", () => {
  it("counts the sources that are on", () => {
    render(<ToolsControl />);
    expect(word().textContent).toBe("Tools");
    act(() => chosen("calculator", "files", "notes"));
    expect(word().textContent).toBe("Tools 3");
  });

  it("lists the app's own tools and the servers that are switched on, with what there is to know of them", async () => {
    chosen("calculator");
    await open();
    const rows = within(screen.getByTestId("tools-popover")).getAllByRole("switch");
    expect(rows.map((row) => [row.textContent, row.getAttribute("aria-checked")])).toEqual([
      ["SumsWorks out sums exactly", "true"],
      ["Date and timeTells what day and time it is, and counts days", "false"],
      [expect.stringMatching(/^Web pages./), "false"],
      [expect.stringMatching(/^Web search./), "false"],
      [expect.stringMatching(/^Read files./), "false"],
      [expect.stringMatching(/^Change files./), "false"],
      ["My filesRunning with 2 tools", "false"],
      ["NotesNot running. A chat that uses it starts it · 2 tools", "false"],
    ]);
  });

  it("switches them for this chat, in an order that says nothing", async () => {
    chosen("notes");
    const user = await open();
    await user.click(source("files"));
    await user.click(source("calculator"));
    await user.click(source("notes"));
    await vi.waitFor(() => expect(kept.at(-1)).toMatchObject([5, { tools: ["calculator", "files"] }]));
    expect(source("calculator").getAttribute("aria-checked")).toBe("true");
    expect(source("notes").getAttribute("aria-checked")).toBe("false");
  });

  it("is taken along by a chat that is not begun", async () => {
    useStore.setState({ chat: null });
    const user = await open();
    await user.click(source("files"));
    expect(useStore.getState().chatSettings.tools).toEqual(["files"]);
    expect(kept).toEqual([]);
  });

  it("leads to the settings", async () => {
    const opened = vi.spyOn(shell, "openSettings").mockResolvedValue(null);
    const user = await open();
    await user.click(screen.getByTestId("add-tools"));
    await vi.waitFor(() => expect(opened.mock.calls).toEqual([["tools"]]));
  });

  it("says why there is nothing to choose for a model that was not taught to use tools", async () => {
    answeredBy(false);
    await open();
    expect(word().getAttribute("aria-disabled")).toBe("true");
    expect(screen.getByTestId("tools-popover").textContent).toBe("This model was not taught to use tools.");
    cleanup();
    answeredBy(true);
    render(<ToolsControl />);
    expect(word().getAttribute("aria-disabled")).toBeNull();
  });

  it("says that a chat which has used tools is read anew with others, until that is taken back or done", async () => {
    chosen("files");
    useStore.setState({ messages: [replied(2, 1)] });
    const user = await open();
    expect(screen.queryByTestId("tools-anew")).toBeNull();
    await user.click(source("calculator"));
    expect(screen.getByTestId("tools-anew").textContent).toContain("the whole chat is read anew");
    await user.click(source("calculator"));
    expect(screen.queryByTestId("tools-anew")).toBeNull();
    await user.click(source("files"));
    act(() => useStore.setState({ messages: [replied(2, 1), replied(4, 0)] }));
    expect(screen.queryByTestId("tools-anew")).toBeNull();
    await user.click(source("calculator"));
    expect(screen.getByTestId("tools-anew")).toBeTruthy();
  });

  it("says nothing of that where the chat has used none", async () => {
    useStore.setState({ messages: [replied(2, 0)] });
    const user = await open();
    await user.click(source("calculator"));
    expect(screen.queryByTestId("tools-anew")).toBeNull();
  });
});

describe("the sources of tools", () => {
  it("are shown for as long as they are on, so that they can be switched off", () => {
    const ids = (...on: string[]) => sourcesOf(useStore.getState().tools, on).map(({ id }) => id);
    const own = ["calculator", "current_date", "read_page", "search_web", "read_files", "write_files"];
    expect(ids()).toEqual([...own, "files", "notes"]);
    expect(ids("web", "gone")).toEqual([...own, "files", "notes", "web", "gone"]);
  });

  it("are each chosen once", () => {
    expect(withSource(["files"], "calculator", true)).toEqual(["calculator", "files"]);
    expect(withSource(["files"], "files", true)).toEqual(["files"]);
    expect(withSource(["calculator", "files"], "files", false)).toEqual(["calculator"]);
  });
});
