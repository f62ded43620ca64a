// @vitest-environment happy-dom
import { act, cleanup, render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { AppEvent, Message, ProjectChat, ProjectFile, ProjectText } from "../bridge/bindings";
import { ShellError, shell } from "../bridge/bridge";
import { splitFiles, withFiles } from "../chat/attachments";
import { ChatPage } from "../chat/ChatPage";
import { Files } from "../chat/Files";
import { passagesOf, withPassages } from "../chat/longFiles";
import { chatSummary, openedChat } from "../chat/samples";
import { type ListRow, listRows, projectRows, withChat } from "../chatList/list";
import { DropTarget } from "../frame/DropTarget";
import { start } from "../frame/start";
import { saveTyped } from "../frame/typedText";
import { chatFromHere, DEFAULT_CHAT_SETTINGS, knownChat, reduce, shownProject } from "../state/server";
import { useStore } from "../state/store";
import { addFiles, deleteProject, expandProject, moveChat } from "./actions";
import { withProjectChat } from "./list";
import { ProjectPage } from "./ProjectPage";
import { ProjectRow } from "./ProjectRow";
import { ProjectSheets } from "./ProjectSheets";
import { project } from "./samples";
import { projectFiles, readingOf, withProjectFilesAnew } from "./texts";

const initial = useStore.getInitialState();
const state = () => useStore.getState();

beforeEach(() => useStore.setState({ ...initial, opened: true }, true));
afterEach(() => {
  cleanup();
  vi.restoreAllMocks();
});

const file = (id: number, name: string, tokens: number): ProjectFile => ({
  id,
  name,
  tokens,
  in_folder: false,
  trouble: null,
});

const chatIn = (id: number, project: number | null, updated_at = id): ProjectChat => ({
  chat: chatSummary(id, { project, updated_at }),
  excerpt: `About ${id}`,
});

const ids = (chats: ProjectChat[] | undefined) => chats?.map(({ chat }) => chat.id);

describe("the list", () => {
  const nameOf = (row: ListRow) =>
    "heading" in row
      ? row.heading
      : "chat" in row
        ? `${row.nested ? "- " : ""}${row.chat.id}`
        : row.project.name;

  it("has the projects between what is pinned and the days, with the chats of those that are open", () => {
    const projects = [project(1), project(2)];
    const inside = projectRows(projects, [2], { 1: [chatIn(7, 1)], 2: [chatIn(8, 2)] });
    const pinned = chatSummary(1, { pinned: true });
    expect(
      listRows([pinned, chatSummary(2)], 5, inside)
        .map(nameOf)
        .slice(0, 6),
    ).toEqual(["Pinned", "1", "Projects", "Project 1", "Project 2", "- 8"]);
    expect(listRows([pinned], 5, inside).map(nameOf).at(-1)).toBe("- 8");
    expect(projectRows([], [1], {})).toEqual([]);
  });

  it("leaves a chat out that is moved into a project, unless its tag is asked for", () => {
    const chat = chatSummary(3, { tags: ["owls"] });
    const moved = { ...chat, project: 1 };
    expect(withChat([chat], moved, null, true)).toEqual([]);
    expect(withChat([chat], moved, "owls", true)).toEqual([moved]);
    expect(withChat([], { ...moved, project: null }, null, true)).toHaveLength(1);
  });

  it("keeps the chats of projects where they are and in their order", () => {
    const before = { 1: [chatIn(5, 1), chatIn(3, 1)], 2: [chatIn(4, 2)] };
    const written = withProjectChat(before, chatSummary(3, { project: 1, updated_at: 9 }));
    expect([ids(written[1]), written[1]?.[0]?.excerpt]).toEqual([[3, 5], "About 3"]);
    const moved = withProjectChat(before, chatSummary(3, { project: 2, updated_at: 9 }));
    expect([ids(moved[1]), ids(moved[2])]).toEqual([[5], [3, 4]]);
    expect(ids(withProjectChat(before, { id: 5, project: null })[1])).toEqual([3]);
  });
});

describe("a project in the list", () => {
  it("is open or not over a restart, and what is gone is not kept with that", async () => {
    const kept = vi.spyOn(shell, "setPreferences").mockResolvedValue(null);
    const { preferences } = state();
    const projects = [project(1), project(2)];
    useStore.setState({ projects, preferences: { ...preferences, open_projects: [7, 2] } });
    expandProject(2, true);
    expect(kept).not.toHaveBeenCalled();
    render(<ProjectRow project={project(1)} open={false} current stop />);
    await userEvent.click(screen.getByTestId("project"));
    expect(kept.mock.lastCall?.[0].open_projects).toEqual([2, 1]);
    await userEvent.keyboard("{ArrowLeft}");
    expect(kept.mock.lastCall?.[0].open_projects).toEqual([2]);
    expect(state().preferences.open_projects).toEqual([2]);
  });

  it("is marked while it takes a chat that is dragged", () => {
    const dragged = { id: 5, at: { x: 0, y: 0 }, to: { project: 1 } };
    useStore.setState({ projects: [project(1), project(2)], dragged });
    render([1, 2].map((id) => <ProjectRow key={id} project={project(id)} open current={false} stop />));
    expect(screen.getAllByTestId("project").map((row) => row.classList.contains("takes"))).toEqual([
      true,
      false,
    ]);
  });
});

describe("what is dropped on the window", () => {
  let tell = (_: AppEvent) => {};
  const drop = (folders: string[], files: string[]) => tell({ type: "dropped", folders, files });
  const said = (notes: string[]) => ({ replaced: [], refused: [], notes });
  const spies = () => ({
    folders: vi.spyOn(shell, "setDroppedProjectFolder").mockResolvedValue(said(["Only 500 files are read."])),
    files: vi.spyOn(shell, "addDroppedProjectFiles").mockResolvedValue(said([])),
    models: vi.spyOn(shell, "importModel").mockRejectedValue(new Error("no model")),
  });
  beforeEach(async () => {
    vi.spyOn(shell, "watch").mockImplementation(async (onEvent) => {
      tell = onEvent;
      throw new Error("no snapshot");
    });
    vi.spyOn(shell, "library").mockRejectedValue(new Error("no library"));
    await start(() => false);
    useStore.setState({
      projects: [project(1, { name: "Forest" })],
      newIn: 1,
      screen: "chat",
      dragging: true,
    });
  });

  it("goes to the project whose page is seen: files, and a folder in the place of its own", async () => {
    const { folders, files, models } = spies();
    render(<DropTarget />);
    expect(screen.getByTestId("drop-target").textContent).toContain("add them to “Forest”");
    drop(["/notes"], ["/a.json"]);
    await vi.waitFor(() => expect(state().note?.text).toBe("Only 500 files are read."));
    expect(folders.mock.calls.map(([id, path]) => [id, path])).toEqual([[1, "/notes"]]);
    expect(files.mock.calls.map(([id, paths]) => [id, paths])).toEqual([[1, ["/a.json"]]]);
    expect(models).not.toHaveBeenCalled();
  });

  it("is refused where it is more than one folder, but for its files", async () => {
    const { folders, files } = spies();
    drop(["/notes", "/plans"], ["/a.txt"]);
    await vi.waitFor(() =>
      expect(state().actionError?.message).toBe("A project has one folder, and these are 2."),
    );
    expect(files).toHaveBeenCalledTimes(1);
    expect(folders).not.toHaveBeenCalled();
    const report = { code: "project_folder", message: "It is closed.", hint: "Open it." };
    folders.mockRejectedValue(new ShellError(report));
    drop(["/closed"], []);
    await vi.waitFor(() => expect(state().actionError?.message).toBe("It is closed."));
    expect(state().readingFiles).toEqual({});
  });

  it("is a model elsewhere", async () => {
    const { folders, models } = spies();
    useStore.setState({ screen: "models" });
    render(<DropTarget />);
    expect(screen.getByTestId("drop-target").textContent).toContain("the folder of a model");
    drop(["/notes"], []);
    await vi.waitFor(() => expect(models.mock.calls).toEqual([["/notes"]]));
    expect(folders).not.toHaveBeenCalled();
  });
});

describe("what the shell says of projects", () => {
  it("puts a new chat where it begins, with the settings of the project", () => {
    const settings = { ...DEFAULT_CHAT_SETTINGS, system_prompt: "Short.", preset: 9 };
    let now = reduce(state(), {
      kind: "app",
      event: { type: "projects", projects: [project(1, { settings })], deleted: [] },
    });
    now = reduce(now, { kind: "navigation started" });
    now = reduce(now, { kind: "new", navigation: 1, project: 1 });
    expect(shownProject(now)?.id).toBe(1);
    // The preset is gone.
    expect(now.chatSettings).toEqual({ ...settings, preset: null });
    const gone = reduce(now, { kind: "app", event: { type: "projects", projects: [], deleted: [] } });
    expect(gone.newIn).toBeNull();
    now = reduce(now, { kind: "navigation started" });
    now = reduce(now, { kind: "new", navigation: 2 });
    expect([now.newIn, now.chatSettings]).toEqual([null, DEFAULT_CHAT_SETTINGS]);
  });

  it("leads from chat to chat of the project that one is in", () => {
    const about = chatSummary(4, { project: 1 });
    const now = {
      ...state(),
      chats: [chatSummary(9)],
      chat: 4,
      about,
      projectChats: { 1: [chatIn(5, 1), chatIn(4, 1)] },
    };
    expect(chatFromHere(now, -1)?.id).toBe(5);
    expect(chatFromHere(now, 1)).toBeUndefined();
    expect([knownChat(now, 5)?.id, knownChat(now, 9)?.id, knownChat(now, 8)]).toEqual([5, 9, undefined]);
  });
});

describe("the files of a project", () => {
  it("are read as a whole, the shortest first, as far as there is room, and searched otherwise", () => {
    const files = [file(1, "book", 9000), file(2, "note", 100), file(3, "plan", 2000)];
    expect(readingOf(files, 40_000, new Set()).whole).toEqual([2, 3, 1]);
    expect(readingOf(files, 40_000, new Set()).tokens).toBe(0);
    const some = readingOf(files, 8000, new Set());
    expect(some.whole).toEqual([2, 3]);
    expect(some.tokens).toBe(1475);
    expect(readingOf(files, 1000, new Set(["plan"])).whole).toEqual([2, 3]);
    expect(readingOf([file(1, "book", 1e6)], 1e6, new Set()).tokens).toBe(6000);
  });

  const asked = (id: number, text: string) =>
    ({ id, role: "user", text, stats: null, status: { state: "finished", reason: "stop" } }) as Message;
  const TEXTS: ProjectText[] = [
    { name: "note", text: "Owls hear.", passages: [] },
    { name: "book", text: null, passages: [{ place: "Page 3", text: "The bell rang." }] },
  ];

  it("go with a question, but for those that stand in the chat as they are", async () => {
    const read = vi.spyOn(shell, "projectTexts").mockResolvedValue(TEXTS);
    const projects = [project(1, { files: [file(2, "note", 3), file(1, "book", 90_000)] })];
    useStore.setState({ projects, newIn: 1 });
    const first = await projectFiles(null, "When did it ring?");
    expect(read.mock.calls).toEqual([[1, "When did it ring?", [2], expect.any(Number), true]]);
    expect(first[0]).toEqual({ name: "note", text: "Owls hear." });
    expect(first.map(passagesOf)[1]).toEqual([{ place: "Page 3", text: "The bell rang." }]);

    const about = chatSummary(4, { project: 1 });
    useStore.setState({ chat: 4, about, newIn: null, messages: [asked(1, withFiles("When?", first))] });
    const again = await projectFiles(4, "And where?");
    expect(again.map(({ name }) => name)).toEqual(["book"]);
    expect(read.mock.lastCall?.[4]).toBe(false);
    useStore.setState({ messages: [asked(1, withFiles("When?", [{ name: "note", text: "Owls sleep." }]))] });
    expect(await projectFiles(4, "And where?")).toHaveLength(2);

    useStore.setState({ chatSettings: { ...DEFAULT_CHAT_SETTINGS, without_project: true } });
    expect(await projectFiles(4, "And where?")).toEqual([]);
  });

  it("are read again before, where they are in a folder, and not what is gone from it", async () => {
    const read = vi.spyOn(shell, "projectTexts").mockResolvedValue([]);
    const gone = { ...file(3, "gone", 3), trouble: "It is no longer in the folder." };
    const one = project(1, { folder: "/notes", files: [file(2, "note", 3)] });
    vi.spyOn(shell, "readProjectFolder").mockImplementation(async () => {
      useStore.setState({ projects: [{ ...one, files: [file(4, "new", 3), gone] }] });
      return { replaced: [], refused: [], notes: [] };
    });
    useStore.setState({ projects: [one], newIn: 1 });
    await projectFiles(null, "And where?");
    expect(read.mock.lastCall?.[2]).toEqual([4]);
  });

  it("leave room for what goes with the question, and one that has changed is read as any other", async () => {
    const read = vi.spyOn(shell, "projectTexts").mockResolvedValue([]);
    useStore.setState({ projects: [project(1, { files: [file(2, "note", 3000)] })], newIn: 1 });
    await projectFiles(null, "And where?");
    expect(read.mock.lastCall?.[2]).toEqual([2]);
    await projectFiles(null, "And where?", [{ name: "own", text: "Owls. ".repeat(3000) }]);
    expect(read.mock.lastCall?.[2]).toEqual([]);

    const messages = [asked(1, withFiles("When?", [{ name: "note", text: "Owls sleep." }]))];
    const about = chatSummary(4, { project: 1 });
    const projects = [project(1, { files: [file(2, "note", 5000)] })];
    useStore.setState({ chat: 4, about, newIn: null, messages, projects });
    read.mockResolvedValue([{ name: "note", text: "Owls hear.", passages: [] }]);
    await projectFiles(4, "And where?");
    expect(read.mock.lastCall?.[2]).toEqual([]);
    read.mockResolvedValue([{ name: "note", text: "Owls sleep.", passages: [] }]);
    await projectFiles(4, "And where?");
    expect(read.mock.lastCall?.[2]).toEqual([2]);
  });

  it("are found anew for another wording", async () => {
    vi.spyOn(shell, "projectTexts").mockResolvedValue(TEXTS.slice(1));
    const about = chatSummary(4, { project: 1 });
    const projects = [project(1, { files: [file(1, "book", 90_000)] })];
    const parts = (text: string) => ({ name: "book", text: withPassages([{ place: "Page 3", text }]) });
    const before = withFiles("Where?", [{ name: "own", text: "Mine." }, parts("Old.")]);
    useStore.setState({ chat: 4, about, projects, messages: [asked(1, before)] });
    const { text, files } = splitFiles(await withProjectFilesAnew(1, before));
    expect([text, files]).toEqual(["Where?", [{ name: "own", text: "Mine." }, parts("The bell rang.")]]);
  });

  it("go with what has waited in a chat that is not open, as that is by then", async () => {
    vi.spyOn(shell, "projectTexts").mockResolvedValue(TEXTS);
    const opened = openedChat(4);
    vi.spyOn(shell, "readChat").mockResolvedValue({ ...opened, chat: { ...opened.chat, project: 1 } });
    useStore.setState({ chat: 9, projects: [project(1, { files: [file(2, "note", 3)] })] });
    expect(await projectFiles(4, "And where?")).toHaveLength(2);
    vi.spyOn(shell, "readChat").mockResolvedValue(opened);
    expect(await projectFiles(4, "And where?")).toEqual([]);
  });

  it("are named while they are read, and so is what keeps one out", async () => {
    const refused = {
      code: "document_damaged",
      message: "plan.docx: This archive is damaged.",
      hint: "Save it anew.",
    };
    vi.spyOn(shell, "addProjectFiles").mockImplementation(async (_, onReading) => {
      onReading(["plan.docx", "note.txt"]);
      expect(state().readingFiles[1]).toEqual(["plan.docx", "note.txt"]);
      return { replaced: [7], refused: [refused], notes: ["note.txt: Only the first rows were read."] };
    });
    const back = vi.spyOn(shell, "restoreProjectFile").mockResolvedValue(null);
    await addFiles(1);
    expect(state().readingFiles).toEqual({});
    expect(state().actionError).toMatchObject(refused);
    expect(state().note?.text).toBe(
      "A file of the same name was replaced.\nnote.txt: Only the first rows were read.",
    );
    await state().note?.undo?.();
    expect(back.mock.calls).toEqual([[7]]);
  });
});

describe("the page of a project", () => {
  it("keeps what is typed, says what a new chat begins with, and opens its chats", async () => {
    const changed = vi.spyOn(shell, "changeProject").mockResolvedValue(null);
    vi.spyOn(shell, "projectChats").mockResolvedValue([chatIn(5, 1)]);
    const opened = vi.spyOn(shell, "openChat").mockResolvedValue(openedChat(5));
    const one = project(1, { files: [file(1, "plan.pdf", 1540)], chats: 1 });
    useStore.setState({ projects: [one], newIn: 1 });
    render(<ProjectPage project={one} />);
    await userEvent.type(screen.getByTestId("project-instructions"), "Metric.");
    await userEvent.tab();
    await vi.waitFor(() => expect(changed.mock.lastCall).toEqual([1, { instructions: "Metric." }]));
    expect(screen.getByTestId("project-files").textContent).toBe("plan.pdf1,540");

    expect(screen.queryByTestId("project-keep-settings")).toBeNull();
    act(() => useStore.setState({ chatSettings: { ...DEFAULT_CHAT_SETTINGS, system_prompt: "Short." } }));
    await userEvent.click(screen.getByTestId("project-keep-settings"));
    await vi.waitFor(() => expect(changed.mock.lastCall?.[1].settings?.system_prompt).toBe("Short."));

    const chat = await screen.findByTestId("project-chat");
    expect(chat.textContent).toContain("About 5");
    await userEvent.click(chat);
    expect(opened.mock.lastCall?.[1]).toBe(5);
  });

  it("keeps what was typed where that could not be kept, and hands it over before the app ends", async () => {
    const report = { code: "io", message: "The disk is full.", hint: "" };
    const changed = vi.spyOn(shell, "changeProject").mockRejectedValueOnce(report).mockResolvedValue(null);
    vi.spyOn(shell, "projectChats").mockResolvedValue([]);
    useStore.setState({ projects: [project(1)], newIn: 1 });
    render(<ProjectPage project={project(1)} />);
    const field = screen.getByTestId("project-instructions") as HTMLTextAreaElement;
    await userEvent.type(field, "Metric.");
    await act(saveTyped);
    expect(changed).toHaveBeenCalledTimes(1);
    expect(field.value).toBe("Metric.");
    await userEvent.type(field, " Short.");
    await act(saveTyped);
    expect(changed.mock.lastCall).toEqual([1, { instructions: "Metric. Short." }]);
  });

  it("has a switch in each of its chats", async () => {
    const changed = vi.spyOn(shell, "setChatSettings").mockResolvedValue(null);
    const about = chatSummary(5, { project: 1 });
    useStore.setState({ projects: [project(1, { instructions: "Metric." })], chat: 5, about });
    render(<ChatPage />);
    await userEvent.click(screen.getByTestId("chat-project"));
    expect(screen.getByTestId("chat-project").getAttribute("aria-checked")).toBe("false");
    await vi.waitFor(() =>
      expect(changed.mock.lastCall).toEqual([5, expect.objectContaining({ without_project: true })]),
    );
  });
});

describe("a question with many files", () => {
  it("shows the first of them until the others are asked for", async () => {
    const files = Array.from({ length: 9 }, (_, at) => ({ name: `file ${at}`, text: "Owls." }));
    render(<Files files={files} />);
    expect(screen.getAllByTestId("file")).toHaveLength(4);
    await userEvent.click(screen.getByText("5 more files"));
    expect(screen.getAllByTestId("file")).toHaveLength(9);
  });
});

describe("moving and deleting", () => {
  it("asks where a chat goes, and can be undone", async () => {
    const moved = vi.spyOn(shell, "moveChat").mockResolvedValue(null);
    useStore.setState({ projects: [project(1), project(2)], chats: [chatSummary(5)], moving: 5 });
    render(<ProjectSheets />);
    expect(screen.getByTestId("move").getAttribute("aria-disabled")).toBe("true");
    await userEvent.click(screen.getAllByTestId("move-choice")[2] as HTMLElement);
    await userEvent.click(screen.getByTestId("move"));
    await vi.waitFor(() => expect(moved.mock.calls).toEqual([[5, 2]]));
    expect([state().moving, state().note?.text]).toEqual([null, "The chat was moved to “Project 2”."]);
    await state().note?.undo?.();
    expect(moved.mock.lastCall).toEqual([5, null]);
    await moveChat({ id: 5, project: 2 }, 2);
    expect(moved).toHaveBeenCalledTimes(2);
  });

  it("asks what becomes of the chats of a project, which can be brought back", async () => {
    const deleted = vi.spyOn(shell, "deleteProject").mockResolvedValue(null);
    const restored = vi.spyOn(shell, "restoreProject").mockResolvedValue(null);
    useStore.setState({ projects: [project(1, { chats: 3 })], deletingProject: 1 });
    render(<ProjectSheets />);
    expect(screen.getByTestId("delete-project-and-chats").textContent).toBe("Delete with its 3 chats");
    await userEvent.click(screen.getByTestId("delete-project"));
    await vi.waitFor(() => expect(deleted.mock.calls).toEqual([[1, false]]));
    await deleteProject(1, true);
    expect(state().note?.text).toBe("“Project 1” was deleted with 3 chats.");
    await state().note?.undo?.();
    expect(restored.mock.calls).toEqual([[1]]);
  });
});
