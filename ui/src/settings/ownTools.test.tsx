// @vitest-environment happy-dom
import { cleanup, render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { ErrorReport, ToolPermission, ToolsState } from "../bridge/bindings";
import { ShellError, shell } from "../bridge/bridge";
import { ownSources, toolsState } from "../chat/samples";
import { NO_TOOLS } from "../state/server";
import { dispatch, useStore } from "../state/store";
import { ownLack, ownTool } from "./ownTools";
import { SearchService } from "./SearchService";
import { ToolFolders } from "./ToolFolders";
import { permitted } from "./toolServers";

const initial = useStore.getInitialState();
const REFUSED: ErrorReport = { code: "unknown", message: "That is none.", hint: "Write another." };
const NOTES = { name: "Notes", path: "/Users/anna/Notes" };
const PLANS = { name: "Plans", path: "/Users/anna/Garden/Plans" };

const tell = (tools: Partial<ToolsState>) =>
  dispatch({ kind: "app", event: { type: "tools", tools: { ...NO_TOOLS, ...tools } } });

beforeEach(() => useStore.setState({ ...initial, opened: true }, true));
afterEach(() => {
  cleanup();
  vi.restoreAllMocks();
});

describe("the address of the search service", () => {
  const field = () => screen.getByTestId<HTMLInputElement>("tool-search");
  const keep = () =>
    vi.spyOn(shell, "setToolSearch").mockImplementation(async (search) => {
      tell({ search });
      return null;
    });
  const open = (search = "") => {
    tell({ search });
    render(<SearchService />);
    return userEvent.setup();
  };

  it("is saved by Enter without spaces around it, and only once", async () => {
    const kept = keep();
    const user = open();
    await user.type(field(), " https://s.example.org {Enter}");
    expect(kept.mock.calls).toEqual([["https://s.example.org"]]);
    expect(field().value).toBe("https://s.example.org");
    await user.tab();
    expect(kept).toHaveBeenCalledOnce();
  });

  it("is saved by leaving the field", async () => {
    const kept = keep();
    const user = open();
    await user.type(field(), "https://s.example.org");
    expect(kept).not.toHaveBeenCalled();
    await user.tab();
    expect(kept.mock.calls).toEqual([["https://s.example.org"]]);
  });

  it("is not sent where it is what it was", async () => {
    const kept = keep();
    const user = open("https://s.example.org");
    await user.type(field(), "x{Backspace}");
    await user.tab();
    expect(kept).not.toHaveBeenCalled();
  });

  it("is taken away by an empty field", async () => {
    const kept = keep();
    const user = open("https://s.example.org");
    await user.clear(field());
    await user.tab();
    expect(kept.mock.calls).toEqual([[""]]);
    expect(field().value).toBe("");
  });

  it("stays as it was typed where it is none, which is said until another is typed", async () => {
    vi.spyOn(shell, "setToolSearch").mockRejectedValue(new ShellError(REFUSED));
    const user = open("https://s.example.org");
    await user.clear(field());
    await user.type(field(), "nowhere{Enter}");
    expect(screen.getByTestId("tool-search-failed").textContent).toContain("That is none.");
    expect(field().value).toBe("nowhere");
    expect(field().getAttribute("aria-invalid")).toBe("true");
    await user.type(field(), "!");
    expect(screen.queryByTestId("tool-search-failed")).toBeNull();
    expect(field().getAttribute("aria-invalid")).toBe("false");
  });
});

describe("the folders of models", () => {
  const rows = () => [...document.querySelectorAll(".setting-text")].map((row) => row.textContent);

  it("are named, each with its whole path", () => {
    tell({ folders: [NOTES, PLANS] });
    render(<ToolFolders />);
    expect(rows()).toEqual(["Notes/Users/anna/Notes", "Plans/Users/anna/Garden/Plans"]);
  });

  it("are picked in the dialog that the shell opens", async () => {
    const add = vi.spyOn(shell, "addToolFolder").mockImplementation(async () => {
      tell({ folders: [NOTES] });
      return true;
    });
    render(<ToolFolders />);
    expect(rows()).toEqual([]);
    await userEvent.click(screen.getByTestId("add-tool-folder"));
    expect(add).toHaveBeenCalledOnce();
    expect(rows()).toEqual(["Notes/Users/anna/Notes"]);
  });

  it("are taken away one by one, and the focus stays in the list", async () => {
    const remove = vi.spyOn(shell, "removeToolFolder").mockImplementation(async () => {
      tell({ folders: [NOTES] });
      return null;
    });
    tell({ folders: [NOTES, PLANS] });
    render(<ToolFolders />);
    await userEvent.click(screen.getByRole("button", { name: /Plans/ }));
    expect(remove.mock.calls).toEqual([["Plans"]]);
    expect(rows()).toEqual(["Notes/Users/anna/Notes"]);
    expect(document.activeElement).toBe(screen.getByTestId("add-tool-folder"));
  });

  it("stay, and it is said why, where one could not be taken away", async () => {
    vi.spyOn(shell, "removeToolFolder").mockRejectedValue(new ShellError(REFUSED));
    tell({ folders: [NOTES] });
    render(<ToolFolders />);
    await userEvent.click(screen.getByTestId("remove-tool-folder"));
    expect(screen.getByTestId("tool-folder-failed").textContent).toContain("That is none.");
    expect(rows()).toEqual(["Notes/Users/anna/Notes"]);
  });
});

describe("the app’s own tools", () => {
  it("each have words for people", () => {
    const names = ownSources().flatMap(({ tools }) => tools.map(({ name }) => name));
    expect(names.filter((name) => ownTool({ name, title: null }) === name)).toEqual([]);
    expect(ownTool({ name: "new_one", title: "New one" })).toBe("New one");
  });

  it("wait for a search service or a folder only where they need it", () => {
    const waiting = (state: Pick<ToolsState, "folders" | "search">) =>
      ownSources()
        .map(({ id }) => id)
        .filter((id) => ownLack(id, state) !== null);
    expect(waiting({ folders: [], search: "" })).toEqual(["search_web", "read_files", "write_files"]);
    expect(waiting({ folders: [NOTES], search: "" })).toEqual(["search_web"]);
    expect(waiting({ folders: [], search: "https://s.example.org" })).toEqual(["read_files", "write_files"]);
  });

  it("are allowed for the host or the service that they reach, and files by their name alone", () => {
    const allowed = (tool: string, reach: string): ToolPermission => ({
      id: 1,
      server: "",
      server_fingerprint: reach,
      tools: { kind: "one", tool: { tool, fingerprint: "f" } },
      chat: null,
      chat_title: null,
      given_at: 0,
    });
    const said = (tool: string, reach: string) => permitted(allowed(tool, reach), toolsState());
    expect(said("read_page", "example.org")).toMatch(/ · example\.org$/);
    expect(said("search_web", "https://s.example.org")).toMatch(/ · https:\/\/s\.example\.org$/);
    expect(said("read_file", '[{"name":"Notes"}]')).toBe(ownTool({ name: "read_file", title: null }));
    // A host that reads otherwise than it is written is seen as it is.
    expect(said("read_page", "ex\u202Eample.org")).not.toContain("\u202E");
  });
});
