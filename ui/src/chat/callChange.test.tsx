// @vitest-environment happy-dom
import { act, cleanup, fireEvent, render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { CallAnswer, CallDifference, ReplyCall } from "../bridge/bindings";
import { ShellError, shell } from "../bridge/bridge";
import { useStore } from "../state/store";
import { CallQuestion } from "./CallQuestion";
import { replyCall, toolsState } from "./samples";

const initial = useStore.getInitialState();
const ID = { message: 2, step: 0, ordinal: 0 };
const FOLDERS = [
  { name: "Notes", path: "/Users/anna/Notes" },
  { name: "Notes/Old", path: "/Users/anna/Old" },
  { name: "Recipes", path: "/Volumes/Disk/Recipes" },
];

const difference = (more: Partial<CallDifference> = {}): CallDifference => ({
  path: "Notes/a.txt",
  creates: false,
  added: 3,
  removed: 1,
  text: "--- Notes/a.txt\n+++ Notes/a.txt\n@@ -1,2 +1,4 @@\n Kept\n-Old\n+New\n+--- rule\n+\n\\ No newline at end of file\n",
  seen: "hash",
  ...more,
});

/** When the call was asked about: each question is a new one. */
let asked = 0;
let decided: CallAnswer[] = [];
/** What the shell was asked for, and its answers, which the test gives. */
let wanted: { changed: string | null; give: (answer: CallDifference | Error) => Promise<void> }[] = [];

const fault = (message: string) =>
  new ShellError({ code: "call_difference", message, hint: "Deny the call, or change its arguments." });

beforeEach(() => {
  asked += 1;
  decided = [];
  wanted = [];
  useStore.setState(
    {
      ...initial,
      opened: true,
      chat: 5,
      tools: toolsState({ folders: FOLDERS, search: "https://find.example" }),
    },
    true,
  );
  vi.spyOn(shell, "decideCall").mockImplementation(async (_id, answer) => {
    decided.push(answer);
  });
  vi.spyOn(shell, "callDifference").mockImplementation(
    (_id, changed) =>
      new Promise((resolve, reject) => {
        wanted.push({
          changed,
          give: (answer) => act(async () => (answer instanceof Error ? reject(answer) : resolve(answer))),
        });
      }),
  );
});
afterEach(() => {
  cleanup();
  vi.useRealTimers();
  vi.restoreAllMocks();
});

/** Asks about a call of the app's own tools. */
function ask(tool: string, given: object, more: Partial<ReplyCall> = {}): void {
  const call = replyCall(ID, {
    tool,
    arguments_written: JSON.stringify(given),
    state: { state: "asking" },
    asked_at: asked,
    ...more,
  });
  render(<CallQuestion call={call} />);
  read();
}

/** Lets the time pass in which nothing answers. */
const read = () => vi.spyOn(performance, "now").mockReturnValue(performance.now() + 501);
const allow = () => screen.getByTestId("allow-once");
const origin = () => screen.queryByTestId("call-origin")?.textContent ?? null;
const settle = () => act(async () => {});
const CHANGE = { path: "Notes/a.txt", text: "New" };

describe("what a call of the app's own tools reaches", () => {
  it("is the host of a page", () => {
    ask("read_page", { address: "https://user@Example.org:8443/a?b=c" });
    expect(origin()).toBe("Sends to: example.org:8443");
    expect(screen.getByTestId("call-arguments").textContent).toContain("https://user@Example.org:8443/a?b=c");
  });

  it("is said to be nothing where the address is none", () => {
    ask("read_page", { address: "example" });
    expect(origin()).toBe("There is no address that it could be sent to.");
    expect(screen.queryByTestId("allow-longer"), "there are no pages to allow").toBeNull();
  });

  it("is the search service", () => {
    ask("search_web", { query: "owls" });
    expect(origin()).toBe("Sends to: https://find.example");
  });

  it.each([
    ["read_file", { path: "Notes/a.txt" }, "Folder: Notes /Users/anna/Notes"],
    ["read_file", { path: "Notes/Old/a.txt" }, "Folder: Notes/Old /Users/anna/Old"],
    ["read_file", { path: "Notes2/a.txt" }, "You have not picked a folder of this name."],
    ["search_files", { text: "owl", folder: "Recipes" }, "Folder: Recipes /Volumes/Disk/Recipes"],
    ["write_file", CHANGE, "Folder: Notes /Users/anna/Notes"],
  ])("is the folder that %s of %j names", (tool, given, said) => {
    ask(tool, given);
    expect(origin()).toBe(said);
  });

  it("is all folders where none is named", () => {
    ask("search_files", { text: "owl" });
    for (const { path } of FOLDERS) expect(origin()).toContain(path);
  });

  it("is nothing for sums", () => {
    ask("calculator", { expression: "1+1" });
    expect(origin()).toBeNull();
  });

  it("follows what the person types", () => {
    ask("read_page", { address: "https://one.example/" });
    fireEvent.click(screen.getByTestId("edit-arguments"));
    fireEvent.change(screen.getByTestId("arguments-json"), {
      target: { value: '{"address":"https://two.example/"}' },
    });
    expect(origin()).toBe("Sends to: two.example");
  });
});

describe("allowing the app's own tools for longer", () => {
  it.each([
    ["Pages of example.org, in this chat", "chat"],
    ["Pages of example.org, everywhere", "always"],
  ])("is by the host of a page: %s", async (name, scope) => {
    ask("read_page", { address: "https://example.org/a" });
    await userEvent.click(screen.getByTestId("allow-longer"));
    await userEvent.click(await screen.findByText(name));
    await vi.waitFor(() =>
      expect(decided).toEqual([{ answer: "allow", scope, arguments: null, seen: null }]),
    );
  });

  it("is by the tool for files that are read, and never for those that are changed", async () => {
    ask("read_file", { path: "Notes/a.txt" });
    await userEvent.click(screen.getByTestId("allow-longer"));
    expect(await screen.findByText("This tool in all picked folders, in this chat")).toBeTruthy();
    cleanup();
    for (const tool of ["write_file", "edit_file"]) {
      ask(tool, CHANGE);
      expect(screen.queryByTestId("allow-longer")).toBeNull();
      cleanup();
    }
  });
});

describe("the change that a call would make", () => {
  it("is not asked for where no file of the person's is changed", () => {
    ask("read_file", CHANGE);
    ask("write_file", CHANGE, { server: "files" });
    expect(wanted).toEqual([]);
    expect(screen.queryByTestId("fold-arguments")).toBeNull();
  });

  it("is shown with its lines told apart by signs, and its arguments fold below", async () => {
    ask("write_file", CHANGE);
    expect(wanted.map(({ changed }) => changed)).toEqual([null]);
    await wanted[0]?.give(difference());
    expect(screen.getByTestId("call-change").textContent).toContain("Changes Notes/a.txt+3 −1");
    const lines = [...screen.getByTestId("difference").children].map((line) => [
      line.className,
      line.textContent,
    ]);
    expect(lines).toEqual([
      ["difference-place", "From line 1"],
      ["kept", " Kept"],
      ["removed", "−Old"],
      ["added", "+New"],
      ["added", "+--- rule"],
      ["added", "+"],
      ["difference-place", "No line break at the end"],
    ]);
    expect(screen.getByTestId("difference").tabIndex, "its end can be reached with the keyboard").toBe(0);
    expect(screen.queryByTestId("call-arguments")).toBeNull();
    fireEvent.click(screen.getByTestId("fold-arguments"));
    expect(screen.getByTestId("call-arguments").textContent).toContain("Notes/a.txt");
  });

  it("says that a file is new, or that its text stays", async () => {
    ask("write_file", CHANGE);
    await wanted[0]?.give(difference({ creates: true, text: "" }));
    expect(screen.getByTestId("call-change").textContent).toContain("Creates Notes/a.txt");
    expect(screen.getByTestId("call-change").textContent).toContain("The text would stay as it is.");
  });

  it("shows what is hidden in the name of the file", async () => {
    ask("write_file", CHANGE);
    await wanted[0]?.give(difference({ path: "Notes/\u202etxt.exe" }));
    expect(screen.getByTestId("call-change").textContent).toContain("Changes Notes/⟨U+202E⟩txt.exe");
  });

  it("must be seen before it is allowed, and what was seen goes with the answer", async () => {
    ask("edit_file", CHANGE);
    expect(allow().title).toBe("The change is not shown yet.");
    fireEvent.click(allow());
    await wanted[0]?.give(difference({ seen: "what it was" }));
    fireEvent.click(allow());
    await settle();
    expect(decided, "it has only just come into view").toEqual([]);
    read();
    fireEvent.click(allow());
    await vi.waitFor(() =>
      expect(decided).toEqual([{ answer: "allow", scope: "once", arguments: null, seen: "what it was" }]),
    );
  });

  it("need not be seen to be denied", async () => {
    ask("write_file", CHANGE);
    fireEvent.click(screen.getByTestId("deny"));
    await vi.waitFor(() => expect(decided).toEqual([{ answer: "deny", note: "" }]));
  });

  it("is told why it cannot be shown, and can be asked for again", async () => {
    ask("edit_file", CHANGE);
    await wanted[0]?.give(fault("There is no “New” in Notes/a.txt."));
    expect(screen.getByTestId("call-change-failed").textContent).toContain(
      "There is no “New” in Notes/a.txt.",
    );
    expect(allow().title).toBe("The change is not shown yet.");
    fireEvent.click(screen.getByTestId("call-change-again"));
    expect(wanted).toHaveLength(2);
    expect(screen.queryByTestId("call-change-failed")).toBeNull();
    await wanted[1]?.give(difference());
    expect(allow().title).toBe("");
  });

  it("is asked for anew a moment after the last key, and only for arguments", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    ask("write_file", CHANGE);
    await wanted[0]?.give(difference());
    fireEvent.click(screen.getByTestId("edit-arguments"));
    const type = (value: string) =>
      fireEvent.change(screen.getByTestId("arguments-json"), { target: { value } });
    type('{"path":');
    expect(allow().title).toBe("This is no JSON object yet.");
    await act(async () => void vi.advanceTimersByTime(1000));
    type('{"path":"b"}');
    expect(allow().title).toBe("The change is not shown yet.");
    await act(async () => void vi.advanceTimersByTime(299));
    type('{"path":"bc"}');
    await act(async () => void vi.advanceTimersByTime(299));
    expect(wanted).toHaveLength(1);
    await act(async () => void vi.advanceTimersByTime(1));
    expect(wanted.map(({ changed }) => changed)).toEqual([null, '{"path":"bc"}']);
    await wanted[1]?.give(difference({ seen: "of bc" }));
    read();
    fireEvent.click(allow());
    await settle();
    expect(decided).toEqual([{ answer: "allow", scope: "once", arguments: '{"path":"bc"}', seen: "of bc" }]);
  });

  it("is not one that came late, for arguments that are others by now", async () => {
    ask("write_file", CHANGE);
    fireEvent.click(screen.getByTestId("edit-arguments"));
    fireEvent.change(screen.getByTestId("arguments-json"), { target: { value: '{"path":"b"}' } });
    await wanted[0]?.give(difference({ seen: "of the first" }));
    expect(screen.queryByTestId("difference")).toBeNull();
    expect(allow().title).toBe("The change is not shown yet.");
  });

  it("is looked at again where the answer did not arrive", async () => {
    vi.mocked(shell.decideCall).mockRejectedValueOnce(new Error("no"));
    ask("write_file", CHANGE);
    await wanted[0]?.give(difference());
    read();
    fireEvent.click(allow());
    await vi.waitFor(() => expect(wanted).toHaveLength(2));
    expect(allow().title).toBe("The change is not shown yet.");
  });
});
