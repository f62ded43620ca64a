// @vitest-environment happy-dom
import { cleanup, render, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type {
  ErrorReport,
  ServerInfo,
  ServerStatus,
  ToolClaims,
  ToolPermission,
  ToolsState,
} from "../bridge/bindings";
import { ShellError, shell } from "../bridge/bridge";
import { ownSources, toolInfo } from "../chat/samples";
import { NO_TOOLS } from "../state/server";
import { dispatch, useStore } from "../state/store";
import { draftOf, formOf } from "./serverDraft";
import { ToolsPage } from "./ToolsPage";
import { claimed } from "./toolServers";

const initial = useStore.getInitialState();

const SILENT: ToolClaims = { reads_only: null, destroys: null, repeatable: null, reaches_out: null };

const NOTES: ServerInfo = {
  slug: "notes",
  name: "Notes",
  transport: {
    kind: "program",
    command: "npx",
    arguments: ["-y", "server files", "/Users/anna/Notes"],
    environment: ["API_KEY", "MODE"],
    folder: "/Users/anna",
  },
  program: "/opt/homebrew/bin/npx",
  enabled: true,
  signed_in: false,
  status: { state: "running" },
  tools: [
    {
      name: "read",
      title: null,
      description: "Reads a file.",
      claims: { ...SILENT, reads_only: true },
      listed: "",
    },
    {
      name: "write",
      title: null,
      description: "Writes a file.",
      claims: { ...SILENT, destroys: true },
      listed: "",
    },
    { name: "find", title: null, description: "Finds a file.", claims: SILENT, listed: "" },
  ],
};

const ISSUES: ServerInfo = {
  ...NOTES,
  slug: "issues",
  name: "Issues",
  transport: { kind: "http", address: "https://example.org/mcp", headers: ["Authorization"] },
  program: null,
  tools: [],
};

const GONE: ErrorReport = { code: "server_gone", message: "The server is gone.", hint: "Look at its lines." };

const PERMISSION: ToolPermission = {
  id: 7,
  server: "notes",
  server_fingerprint: "s",
  tools: { kind: "one", tool: { tool: "read", fingerprint: "f" } },
  chat: null,
  chat_title: null,
  given_at: Date.UTC(2026, 1, 3, 12),
};

const tell = (tools: Partial<ToolsState>) =>
  dispatch({ kind: "app", event: { type: "tools", tools: { ...NO_TOOLS, ...tools } } });
const refusal = (report: ErrorReport) => new ShellError(report);
const stateWords = () => screen.getByTestId("server-state").textContent;

beforeEach(() => {
  useStore.setState({ ...initial, opened: true }, true);
  vi.spyOn(shell, "toolServerFiles").mockResolvedValue([]);
});
afterEach(() => {
  cleanup();
  vi.restoreAllMocks();
});

async function open(...servers: ServerInfo[]) {
  tell({ servers });
  render(<ToolsPage />);
  await userEvent.click(screen.getAllByTestId("server-fold")[0] as HTMLElement);
}

describe("the app’s own tools", () => {
  it("are named in words, and one that has none by what it says of itself", () => {
    const unknown = { id: "new_one", tools: [toolInfo("new_one", { description: "Does things." })] };
    tell({ built_in: [...ownSources(), unknown] });
    render(<ToolsPage />);
    const names = within(screen.getByRole("region", { name: "Built in" })).getAllByText(/./, {
      selector: ".setting-name, .setting-words",
    });
    const words = names.map((one) => one.textContent);
    expect(words.filter((_, index) => index % 2 === 0)).toEqual([
      "Sums",
      "Date and time",
      "Web pages",
      "Web search",
      "Read files",
      "Change files",
      "new_one",
    ]);
    expect(words.slice(0, 2).concat(words.slice(-2))).toEqual([
      "Sums",
      "Works out sums exactly",
      "new_one",
      "Does things.",
    ]);
  });
});

describe("a server", () => {
  it.each<[boolean, ServerStatus, string]>([
    [false, { state: "stopped" }, "Off"],
    [false, { state: "failed", error: GONE }, "Off"],
    [true, { state: "stopped" }, "Not running. A chat that uses it starts it"],
    [true, { state: "starting" }, "Starting…"],
    [true, { state: "running" }, "Running with 3 tools"],
    [true, { state: "failed", error: GONE }, "Failed"],
  ])("that is on: %s, and %o, says %s", (enabled, status, words) => {
    tell({ servers: [{ ...NOTES, enabled, status }] });
    render(<ToolsPage />);
    expect(stateWords()).toBe(words);
    expect(screen.getByRole("switch", { name: "Use Notes" }).getAttribute("aria-checked")).toBe(`${enabled}`);
    expect(screen.queryByTestId("server-failed") !== null).toBe(enabled && status.state === "failed");
  });

  it("that failed says why and what helps, and is tried again", async () => {
    const start = vi.spyOn(shell, "startToolServer").mockResolvedValue(null);
    tell({ servers: [{ ...NOTES, status: { state: "failed", error: GONE } }] });
    render(<ToolsPage />);
    const note = screen.getByTestId("server-failed").textContent;
    expect(note).toContain("The server is gone.");
    expect(note).toContain("Look at its lines.");
    await userEvent.click(screen.getByRole("button", { name: "Try again" }));
    expect(start).toHaveBeenCalledWith("notes");
  });

  it.each([true, false])("is on as the person has answered the shell: %s", async (agreed) => {
    const enable = vi.spyOn(shell, "enableToolServer").mockResolvedValue(agreed);
    tell({ servers: [{ ...NOTES, enabled: false, status: { state: "stopped" } }] });
    render(<ToolsPage />);
    await userEvent.click(screen.getByTestId("server-switch"));
    expect(enable).toHaveBeenCalledWith("notes", true);
    expect(screen.getByTestId("server-switch").getAttribute("aria-checked")).toBe(`${agreed}`);
  });

  it("is asked about once, however often its switch is pressed meanwhile", async () => {
    let answer = (_: boolean) => {};
    const enable = vi.spyOn(shell, "enableToolServer").mockImplementation(
      () =>
        new Promise((resolve) => {
          answer = resolve;
        }),
    );
    await open({ ...NOTES, enabled: false });
    const control = screen.getByTestId("server-switch");
    await userEvent.click(control);
    await userEvent.click(control);
    expect(enable).toHaveBeenCalledOnce();
    await userEvent.click(screen.getByTestId("remove-server"));
    expect(screen.queryByTestId("remove-server-sheet"), "it is not removed meanwhile").toBeNull();
    expect(control.getAttribute("aria-checked")).toBe("false");
    answer(true);
    await waitFor(() => expect(control.getAttribute("aria-checked")).toBe("true"));
  });

  it("says why it could not be switched on", async () => {
    vi.spyOn(shell, "enableToolServer").mockRejectedValue(refusal(GONE));
    tell({ servers: [{ ...NOTES, enabled: false }] });
    render(<ToolsPage />);
    await userEvent.click(screen.getByTestId("server-switch"));
    expect(screen.getByTestId("server-failed").textContent).toContain("The server is gone.");
    expect(screen.getByTestId("server-switch").getAttribute("aria-checked")).toBe("false");
  });

  it("no longer says what failed once it runs", async () => {
    vi.spyOn(shell, "startToolServer").mockRejectedValue(refusal(GONE));
    await open({ ...NOTES, status: { state: "stopped" } });
    await userEvent.click(screen.getByRole("button", { name: "Start" }));
    expect(screen.getByTestId("server-failed").textContent).toContain("The server is gone.");
    tell({ servers: [NOTES] });
    await waitFor(() => expect(screen.queryByTestId("server-failed")).toBeNull());
  });

  it("shows its command with each argument by itself, where the program is, and names without values", async () => {
    await open(NOTES);
    const facts = screen.getByTestId("server-facts");
    const [argumentList, names] = within(facts).getAllByRole("list");
    const items = (list?: HTMLElement) => [...(list?.children ?? [])].map((item) => item.textContent);
    expect(items(argumentList)).toEqual(["-y", "server files", "/Users/anna/Notes"]);
    expect(items(names)).toEqual(["API_KEY", "MODE"]);
    for (const words of ["npx", "/opt/homebrew/bin/npx", "/Users/anna"])
      expect(within(facts).getByText(words)).toBeTruthy();
  });

  it("hides nothing of what it runs", async () => {
    const hidden = { ...NOTES.transport, arguments: ["a\u202eb", ""] } as ServerInfo["transport"];
    await open({ ...NOTES, transport: hidden });
    expect(screen.getByTestId("server-facts").textContent).toContain("a⟨U+202E⟩b");
  });

  it("says that its program is not there", async () => {
    await open({ ...NOTES, program: null });
    expect(screen.getByTestId("server-facts").textContent).toContain("Not found on this");
  });

  it("at an address shows that, and the names of headers", async () => {
    await open(ISSUES);
    const facts = screen.getByTestId("server-facts").textContent;
    expect(facts).toContain("https://example.org/mcp");
    expect(facts).toContain("Authorization");
    expect(screen.queryByTestId("read-lines"), "only a program writes lines").toBeNull();
  });

  it("lists its tools with what it says of each", async () => {
    await open(NOTES);
    expect(screen.getAllByTestId("server-tool").map((tool) => tool.textContent)).toEqual([
      "readsays it only readsReads a file.",
      "writemay delete or replaceWrites a file.",
      "findsays nothing of what it doesFinds a file.",
    ]);
  });

  it("shows the last lines of its program when somebody asks for them", async () => {
    const lines = vi.spyOn(shell, "toolServerErrors").mockResolvedValue("No such key\nat line 3");
    await open(NOTES);
    expect(lines).not.toHaveBeenCalled();
    await userEvent.click(screen.getByTestId("read-lines"));
    expect(screen.getByTestId("server-lines").textContent).toBe("No such key\nat line 3");
    lines.mockResolvedValue("");
    await userEvent.click(screen.getByTestId("read-lines"));
    expect(screen.queryByTestId("server-lines")).toBeNull();
    expect(screen.getByText("It has written nothing.")).toBeTruthy();
  });

  describe("that wants a sign-in", () => {
    const WANTED: ErrorReport = { code: "server_sign_in", message: "It wants a sign-in.", hint: "Sign in." };
    const WANTS: ServerInfo = { ...ISSUES, status: { state: "failed", error: WANTED } };

    it("offers that, and what the browser is waited for can be given up", async () => {
      let answer = (_: boolean) => {};
      const signIn = vi.spyOn(shell, "signInToServer").mockImplementation(
        () =>
          new Promise((resolve) => {
            answer = resolve;
          }),
      );
      const giveUp = vi.spyOn(shell, "giveUpSignIn").mockResolvedValue(null);
      tell({ servers: [WANTS] });
      render(<ToolsPage />);
      await userEvent.click(screen.getByRole("button", { name: "Sign in to Issues" }));
      await userEvent.click(screen.getByRole("button", { name: "Sign in to Issues" }));
      expect(signIn.mock.calls).toEqual([["issues"]]);
      tell({ servers: [{ ...WANTS, status: { state: "signing_in" } }] });
      await waitFor(() => expect(stateWords()).toBe("Waiting for your browser…"));
      expect(screen.queryByTestId("sign-in")).toBeNull();
      expect(
        screen.getByTestId("server-switch").getAttribute("aria-disabled"),
        "it can be switched off",
      ).toBe(null);
      await userEvent.click(screen.getByRole("button", { name: "Give up signing in to Issues" }));
      expect(giveUp).toHaveBeenCalledWith("issues");
      answer(false);
      tell({ servers: [WANTS] });
      await waitFor(() => expect(screen.getByTestId("sign-in").getAttribute("aria-disabled")).toBe(null));
      expect(screen.queryByTestId("give-up-sign-in")).toBeNull();
    });

    it("says why signing in did not succeed, until it runs", async () => {
      vi.spyOn(shell, "signInToServer").mockRejectedValue(
        refusal({ code: "sign_in_failed", message: "It did not succeed.", hint: "Try again." }),
      );
      tell({ servers: [WANTS] });
      render(<ToolsPage />);
      await userEvent.click(screen.getByTestId("sign-in"));
      await waitFor(() =>
        expect(screen.getByTestId("server-failed").textContent).toContain("It did not succeed."),
      );
      expect(screen.getByTestId("sign-in").getAttribute("aria-disabled"), "it can be tried again").toBe(null);
      tell({ servers: [{ ...ISSUES, signed_in: true }] });
      await waitFor(() => expect(screen.queryByTestId("server-failed")).toBeNull());
    });

    it.each<[string, ServerInfo]>([
      ["runs on this machine", { ...NOTES, status: { state: "failed", error: WANTED } }],
      ["failed for another reason", { ...ISSUES, status: { state: "failed", error: GONE } }],
      ["is off", { ...WANTS, enabled: false }],
    ])("is another than one that %s", (_, server) => {
      tell({ servers: [server] });
      render(<ToolsPage />);
      expect(screen.queryByTestId("sign-in")).toBeNull();
    });
  });

  it("says that the person is signed in, who can sign out", async () => {
    const signOut = vi.spyOn(shell, "signOutOfServer").mockResolvedValue(null);
    await open({ ...ISSUES, signed_in: true, status: { state: "stopped" } });
    expect(stateWords()).toBe("Not running. A chat that uses it starts it · signed in");
    await userEvent.click(screen.getByRole("button", { name: "Sign out of Issues" }));
    expect(signOut).toHaveBeenCalledWith("issues");
    tell({ servers: [ISSUES] });
    await waitFor(() => expect(screen.queryByTestId("sign-out")).toBeNull());
    expect(stateWords()).not.toContain("signed in");
  });

  it("is removed after a question", async () => {
    const remove = vi.spyOn(shell, "removeToolServer").mockResolvedValue(null);
    await open(NOTES);
    await userEvent.click(screen.getByRole("button", { name: "Remove Notes" }));
    await userEvent.click(await screen.findByTestId("remove-server-sheet-cancel"));
    expect(remove).not.toHaveBeenCalled();
    await userEvent.click(screen.getByRole("button", { name: "Remove Notes" }));
    await userEvent.click(await screen.findByTestId("remove-server-sheet-now"));
    expect(remove).toHaveBeenCalledWith("notes");
  });
});

describe("what a server says of a tool", () => {
  it.each<[Partial<ToolClaims>, string]>([
    [{}, "says nothing of what it does"],
    [{ reads_only: true }, "says it only reads"],
    [{ reads_only: false }, "says it changes something"],
    [{ reads_only: false, destroys: false }, "says it deletes and replaces nothing"],
    [{ reads_only: true, destroys: true }, "may delete or replace"],
    [{ reads_only: true, reaches_out: true }, "says it only reads · reaches beyond this computer"],
    [{ reaches_out: false }, "says it stays on this computer"],
  ])("%o is in words: %s", (claims, words) => {
    expect(claimed({ ...SILENT, ...claims })).toBe(words);
  });
});

describe("the form of a server", () => {
  async function begin() {
    tell({ servers: [] });
    render(<ToolsPage />);
    await userEvent.click(screen.getByTestId("add-server"));
  }
  const write = async (field: string, text: string) => {
    await userEvent.clear(screen.getByTestId(field));
    await userEvent.type(screen.getByTestId(field), text);
  };

  it("sends a program as it was typed", async () => {
    const put = vi.spyOn(shell, "putToolServer").mockResolvedValue("weather");
    await begin();
    await write("server-name", " Weather ");
    await write("server-command", "uvx");
    await write("server-arguments", "mcp weather\n\n--units=metric");
    await write("server-folder", "/Users/anna");
    await userEvent.click(screen.getByTestId("add-server-value"));
    expect(document.activeElement).toBe(screen.getByTestId("server-value-name"));
    await write("server-value-name", "KEY");
    await write("server-value-value", "abc");
    await userEvent.click(screen.getByTestId("save-server"));
    expect(put).toHaveBeenCalledWith({
      slug: null,
      name: "Weather",
      transport: {
        kind: "program",
        command: "uvx",
        arguments: ["mcp weather", "--units=metric"],
        environment: ["KEY"],
        folder: "/Users/anna",
      },
      values: [{ name: "KEY", value: "abc" }],
    });
    expect(screen.queryByTestId("server-form")).toBeNull();
    expect(document.activeElement).toBe(screen.getByTestId("add-server"));
  });

  it("sends an address with its headers, and keeps what was typed of a program until then", async () => {
    const put = vi.spyOn(shell, "putToolServer").mockResolvedValue("issues");
    await begin();
    await write("server-name", "Issues");
    await write("server-command", "uvx");
    await userEvent.click(screen.getByRole("radio", { name: "Address" }));
    await write("server-address", "https://example.org/mcp");
    await userEvent.click(screen.getByRole("radio", { name: "Program" }));
    expect(screen.getByTestId("server-command")).toHaveProperty("value", "uvx");
    await userEvent.click(screen.getByRole("radio", { name: "Address" }));
    await userEvent.click(screen.getByTestId("add-server-value"));
    await write("server-value-name", "Authorization");
    await write("server-value-value", "Bearer x");
    await userEvent.click(screen.getByTestId("save-server"));
    expect(put).toHaveBeenCalledWith({
      slug: null,
      name: "Issues",
      transport: { kind: "http", address: "https://example.org/mcp", headers: ["Authorization"] },
      values: [{ name: "Authorization", value: "Bearer x" }],
    });
  });

  it("says what is missing, and sends nothing before it is there", async () => {
    const put = vi.spyOn(shell, "putToolServer").mockResolvedValue("weather");
    await begin();
    const said = () => screen.getByTestId("save-server").getAttribute("aria-description");
    expect(said()).toBe("The server has no name yet.");
    await write("server-name", "Weather");
    expect(said()).toBe("No program is named yet.");
    await userEvent.type(screen.getByTestId("server-name"), "{enter}");
    await userEvent.click(screen.getByTestId("save-server"));
    expect(put).not.toHaveBeenCalled();
    await write("server-command", "uvx");
    expect(said()).toBeNull();
    await userEvent.click(screen.getByTestId("add-server-value"));
    await write("server-value-value", "abc");
    expect(said()).toBe("A value has no name yet.");
  });

  it("keeps all that was typed after an error, which it shows", async () => {
    vi.spyOn(shell, "putToolServer").mockRejectedValue(
      refusal({
        code: "server_folder_relative",
        message: "The folder is not whole.",
        hint: "Write it whole.",
      }),
    );
    await begin();
    const typed = {
      "server-name": "Weather",
      "server-command": "uvx",
      "server-arguments": "one",
      "server-folder": "here",
    };
    for (const [field, text] of Object.entries(typed)) await write(field, text);
    await userEvent.click(screen.getByTestId("add-server-value"));
    await write("server-value-name", "KEY");
    await write("server-value-value", "abc");
    await userEvent.click(screen.getByTestId("save-server"));
    expect(screen.getByTestId("server-form-error").textContent).toContain("Write it whole.");
    const all = { ...typed, "server-value-name": "KEY", "server-value-value": "abc" };
    for (const [field, text] of Object.entries(all))
      expect(screen.getByTestId(field), field).toHaveProperty("value", text);
  });

  it("never shows a value, and keeps those that are not typed anew", async () => {
    const put = vi.spyOn(shell, "putToolServer").mockResolvedValue("notes");
    await open(NOTES);
    await userEvent.click(screen.getByTestId("edit-server"));
    const values = screen.getAllByTestId("server-value-value") as HTMLInputElement[];
    expect(values.map(({ type, value, placeholder }) => [type, value, placeholder])).toEqual([
      ["password", "", "stays as it is"],
      ["password", "", "stays as it is"],
    ]);
    await userEvent.type(values[1] as HTMLInputElement, "fast");
    await userEvent.click(screen.getByTestId("add-server-value"));
    await userEvent.type(screen.getAllByTestId("server-value-name")[2] as HTMLElement, "EMPTY");
    await userEvent.click(screen.getByTestId("save-server"));
    expect(put).toHaveBeenCalledWith({
      slug: "notes",
      name: "Notes",
      transport: { ...NOTES.transport, environment: ["API_KEY", "MODE", "EMPTY"] },
      values: [
        { name: "API_KEY", value: null },
        { name: "MODE", value: "fast" },
        { name: "EMPTY", value: "" },
      ],
    });
    expect(document.activeElement).toBe(screen.getByTestId("edit-server"));
  });

  it("sends a variable no more that is removed", async () => {
    const put = vi.spyOn(shell, "putToolServer").mockResolvedValue("notes");
    await open(NOTES);
    await userEvent.click(screen.getByTestId("edit-server"));
    await userEvent.click(screen.getByRole("button", { name: "Remove API_KEY" }));
    expect(document.activeElement).toBe(screen.getByTestId("add-server-value"));
    await userEvent.click(screen.getByTestId("save-server"));
    expect(put.mock.calls[0]?.[0].values).toEqual([{ name: "MODE", value: null }]);
  });

  it("keeps no value where a variable is called something else, or a program becomes an address", () => {
    const draft = draftOf(NOTES);
    const renamed = { ...draft, variables: [{ id: 0, name: "OTHER", value: "" }] };
    expect(formOf(renamed, NOTES).values).toEqual([{ name: "OTHER", value: "" }]);
    const address = { ...draft, kind: "http" as const, headers: [{ id: 0, name: "API_KEY", value: "" }] };
    expect(formOf(address, NOTES).values).toEqual([{ name: "API_KEY", value: "" }]);
  });

  it("leaves arguments as they are that no line can hold, until they are changed", () => {
    const odd = ["-c", "print(1)\nprint(2)", ""];
    const server: ServerInfo = { ...NOTES, transport: { ...NOTES.transport, arguments: odd } as never };
    const draft = draftOf(server);
    expect(formOf(draft, server).transport).toHaveProperty("arguments", odd);
    const changed = formOf({ ...draft, lines: `${draft.lines}-v` }, server).transport;
    expect(changed).toHaveProperty("arguments", ["-c", "print(1)", "print(2)", "-v"]);
  });
});

describe("servers of other programs", () => {
  it("are taken over from a file that was found, and what was left out is said with its reason", async () => {
    vi.mocked(shell.toolServerFiles).mockResolvedValue([{ program: "Claude Desktop", path: "/c.json" }]);
    const take = vi.spyOn(shell, "importToolServerFile").mockResolvedValue({
      added: ["notes", "issues"],
      left_out: [{ name: "old", error: { code: "server_transport_old", message: "Too old.", hint: "Ask." } }],
    });
    tell({ servers: [NOTES, ISSUES] });
    render(<ToolsPage />);
    await userEvent.click(await screen.findByRole("button", { name: "Take over from Claude Desktop" }));
    expect(take).toHaveBeenCalledWith("/c.json");
    const lines = within(screen.getByTestId("imported")).getAllByRole("listitem");
    expect(lines.map((line) => line.textContent)).toEqual([
      "Added, all switched off: Notes and Issues.",
      "old was left out. Too old. Ask.",
    ]);
  });

  it("are taken over from a text, which goes once all of it is there", async () => {
    const left = { name: "old", error: GONE };
    const take = vi.spyOn(shell, "importToolServers").mockResolvedValue({ added: [], left_out: [left] });
    tell({ servers: [NOTES] });
    render(<ToolsPage />);
    const field = screen.getByTestId("import-text");
    await userEvent.click(screen.getByTestId("import-servers"));
    expect(take, "nothing is typed").not.toHaveBeenCalled();
    await userEvent.click(field);
    await userEvent.paste('{"a":1}');
    await userEvent.click(screen.getByTestId("import-servers"));
    expect(take).toHaveBeenCalledWith('{"a":1}');
    expect(screen.getByTestId("imported").textContent).toContain("Nothing was added.");
    expect(field).toHaveProperty("value", '{"a":1}');
    take.mockResolvedValue({ added: ["notes"], left_out: [] });
    await userEvent.click(screen.getByTestId("import-servers"));
    expect(screen.getByTestId("imported").textContent).toBe("Added, all switched off: Notes.");
    expect(field).toHaveProperty("value", "");
  });

  it("stay where they are if the text cannot be read, which is said", async () => {
    vi.spyOn(shell, "importToolServers").mockRejectedValue(
      refusal({ code: "server_not_json", message: "This is no JSON.", hint: "Paste all of it." }),
    );
    render(<ToolsPage />);
    await userEvent.type(screen.getByTestId("import-text"), "abc");
    await userEvent.click(screen.getByTestId("import-servers"));
    expect(screen.getByTestId("import-failed").textContent).toContain("This is no JSON.");
    expect(screen.getByTestId("import-text")).toHaveProperty("value", "abc");
    expect(screen.queryByTestId("imported")).toBeNull();
  });
});

describe("what is allowed", () => {
  const all: ToolPermission[] = [
    PERMISSION,
    { ...PERMISSION, id: 8, tools: { kind: "every", tools: [] }, chat: 3, chat_title: "Greenhouse" },
    { ...PERMISSION, id: 9, server: "gone", chat: 4 },
  ];

  it("is said: of which tool and server, where, and since when", () => {
    tell({ servers: [NOTES], permissions: all });
    render(<ToolsPage />);
    const region = screen.getByRole("region", { name: "Allowed" });
    expect([...region.querySelectorAll(".setting-text")].map((row) => row.textContent)).toEqual([
      "read of NotesIn every chat, since 3 February 2026",
      "Every tool of NotesIn the chat “Greenhouse”, since 3 February 2026",
      "read of goneIn one chat, since 3 February 2026",
    ]);
  });

  it("is taken back one by one, and the focus stays in the list", async () => {
    const revoke = vi.spyOn(shell, "revokePermission").mockImplementation(async (id) => {
      tell({ servers: [NOTES], permissions: all.filter((one) => one.id !== id) });
      return null;
    });
    tell({ servers: [NOTES], permissions: all });
    render(<ToolsPage />);
    await userEvent.click(screen.getByRole("button", { name: "Take back: Every tool of Notes" }));
    expect(revoke.mock.calls).toEqual([[8]]);
    expect(screen.getAllByTestId("revoke-permission")).toHaveLength(2);
    expect(screen.getByRole("region", { name: "Allowed" }).contains(document.activeElement)).toBe(true);
  });

  it("stays, and it is said why, if it could not be taken back", async () => {
    vi.spyOn(shell, "revokePermission").mockRejectedValue(refusal(GONE));
    tell({ permissions: [PERMISSION] });
    render(<ToolsPage />);
    await userEvent.click(screen.getByTestId("revoke-permission"));
    expect(screen.getByTestId("revoke-failed").textContent).toContain("The server is gone.");
    expect(screen.getAllByTestId("revoke-permission")).toHaveLength(1);
  });
});

describe("the button that stops all tools", () => {
  it("asks first", async () => {
    const stop = vi.spyOn(shell, "stopAllTools").mockResolvedValue(null);
    render(<ToolsPage />);
    await userEvent.click(screen.getByTestId("stop-tools"));
    await userEvent.click(await screen.findByTestId("stop-tools-sheet-cancel"));
    expect(stop).not.toHaveBeenCalled();
    await userEvent.click(screen.getByTestId("stop-tools"));
    await userEvent.click(await screen.findByTestId("stop-tools-sheet-now"));
    expect(stop).toHaveBeenCalledOnce();
  });

  it("says why it could not", async () => {
    vi.spyOn(shell, "stopAllTools").mockRejectedValue(refusal(GONE));
    render(<ToolsPage />);
    await userEvent.click(screen.getByTestId("stop-tools"));
    await userEvent.click(await screen.findByTestId("stop-tools-sheet-now"));
    expect((await screen.findByTestId("stop-tools-failed")).textContent).toContain("The server is gone.");
  });
});
