// @vitest-environment happy-dom
import { act, cleanup, render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { shell } from "../bridge/bridge";
import { modelInfo } from "../models/samples";
import { DEFAULT_CHAT_SETTINGS } from "../state/server";
import { type State, useStore } from "../state/store";
import { toolTexts } from "./context";
import { toolServer, toolsState } from "./samples";
import { ToolsControl } from "./ToolsControl";

const initial = useStore.getInitialState();
const chosen = (...tools: string[]) =>
  useStore.setState({ chatSettings: { ...DEFAULT_CHAT_SETTINGS, tools } });
const ready = (path: string, tools = true) =>
  useStore.setState({
    engine: { state: "ready", model: modelInfo(path, { tools }), device: "cpu" } as State["engine"],
  });
const source = (id: string) => screen.getByTestId(`tool-source-${id}`);
const on = () => useStore.getState().chatSettings.tools;

beforeEach(() => {
  useStore.setState({ ...initial, opened: true, chat: null, tools: toolsState() }, true);
});
afterEach(() => {
  cleanup();
  vi.restoreAllMocks();
});

async function open() {
  const user = userEvent.setup();
  render(<ToolsControl />);
  await user.click(screen.getByTestId("tools-control"));
  await screen.findByTestId("tools-popover");
  return user;
}

describe("a source that waits for something", () => {
  beforeEach(() => useStore.setState({ tools: toolsState({ folders: [], search: "" }) }));

  it.each(["search_web", "read_files", "write_files"])("is not switched on: %s", async (id) => {
    const user = await open();
    expect(source(id).getAttribute("aria-disabled")).toBe("true");
    await user.click(source(id));
    expect(on()).toEqual([]);
  });

  it("says for what", async () => {
    await open();
    expect(source("search_web").textContent).toContain("No search service is set");
    expect(source("read_files").textContent).toContain("No folder is picked yet");
    expect(source("read_page").getAttribute("aria-disabled")).toBeNull();
  });

  it("is switched off where it is on", async () => {
    chosen("read_files");
    const user = await open();
    expect(source("read_files").getAttribute("aria-disabled")).toBeNull();
    await user.click(source("read_files"));
    expect(on()).toEqual([]);
  });

  it("is switched on once that is there", async () => {
    const user = await open();
    act(() => useStore.setState({ tools: toolsState() }));
    await user.click(source("read_files"));
    expect(on()).toEqual(["read_files"]);
  });
});

describe("what the chosen tools cost", () => {
  it("is counted by the model, and follows what is chosen", async () => {
    const count = vi.spyOn(shell, "countTokens").mockImplementation(async (texts) => texts.map(() => 70));
    ready("/cost");
    await open();
    expect(screen.queryByTestId("tools-cost")).toBeNull();
    act(() => chosen("read_files", "calculator"));
    expect((await screen.findByTestId("tools-cost")).textContent).toContain("280");
    act(() => chosen("calculator"));
    expect(screen.getByTestId("tools-cost").textContent).toContain("70");
    expect(count, "what is known is not counted again").toHaveBeenCalledOnce();
  });

  it("is not said while no model is loaded", async () => {
    const count = vi.spyOn(shell, "countTokens").mockResolvedValue([70]);
    chosen("calculator");
    await open();
    expect(screen.queryByTestId("tools-cost")).toBeNull();
    expect(count).not.toHaveBeenCalled();
  });
});

describe("the texts of tools in a prompt", () => {
  const names = () => toolTexts(useStore.getState()).map((text) => JSON.parse(text).name);

  it("are those of the chosen sources, the app's own before servers", () => {
    chosen("files", "write_files", "current_date");
    expect(names()).toEqual(["current_date", "write_file", "edit_file", "read_file", "write_file"]);
  });

  it("leave out what a chat does not get: what waits, servers that are off, all for a model without tools", () => {
    const off = toolServer({ enabled: false });
    useStore.setState({ tools: toolsState({ folders: [], servers: [off] }) });
    chosen("read_files", "files", "search_web");
    expect(names()).toEqual(["search_web"]);
    ready("/untaught", false);
    expect(names()).toEqual([]);
  });
});
