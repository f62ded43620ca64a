import type { AddedFiles, ChatSummary, Project } from "../bridge/bindings";
import { reportOf, ShellError, shell } from "../bridge/bridge";
import { chatQueue } from "../bridge/serialQueue";
import { openProject as enterProject } from "../chat/navigation";
import { isTemporary } from "../chat/view";
import { listChats } from "../chatList/actions";
import { showSidebar } from "../frame/drawer";
import { attempt, showError } from "../frame/errors";
import { t } from "../language/text";
import { ownError, told, why } from "../language/told";
import { sentences } from "../primitives/format";
import { changePreferences } from "../settings/actions";
import { shownProject } from "../state/server";
import { dispatch, type State, setView, useStore } from "../state/store";

const state = () => useStore.getState();

const named = (id: number): Project | undefined => state().projects.find((project) => project.id === id);

/** Shows the page of a project, where a new chat in it begins, and its chats in the list. */
export async function openProject(project: number): Promise<void> {
  expandProject(project, true);
  await enterProject(project);
}

/** Lists the chats of a project below it, or no longer. That is kept; projects that are gone are left out then. */
export function expandProject(project: number, open: boolean): void {
  const { open_projects } = state().preferences;
  if (open_projects.includes(project) === open) return;
  const others = open_projects.filter((id) => id !== project && named(id));
  changePreferences({ open_projects: open ? [...others, project] : others });
}

/** The project whose page is seen: what is dropped on the window is for it. */
export const seenProject = (state: State): Project | undefined =>
  state.screen === "chat" ? shownProject(state) : undefined;

/** Adds a project, shows it, and lets the person name it. */
export const createProject = () =>
  attempt(async () => {
    const { id } = await chatQueue.run(() => shell.createProject(""));
    await openProject(id);
    nameProject(id);
  });

/** Reads the chats of a project, and what they say last. */
export const loadProjectChats = (project: number) =>
  attempt(async () => {
    const { listChanges } = state();
    const chats = await chatQueue.run(() => shell.projectChats(project));
    // What was heard meanwhile may be newer.
    if (state().listChanges === listChanges || state().projectChats[project] === undefined)
      dispatch({ kind: "project chats", project, chats });
  });

/** Changes a project. Returns whether that worked. */
export const changeProject = (
  project: number,
  change: Partial<Pick<Project, "name" | "instructions" | "settings">>,
): Promise<boolean> => attempt(() => chatQueue.run(() => shell.changeProject(project, change)));

/** Lets the person name a project in the list, which shows all then, and the row where it is. */
export function nameProject(project: number): void {
  if (state().tag !== null) listChats(null);
  showSidebar();
  setView({ renamingProject: project, query: "", hits: null });
}

export async function renameProject(project: number, name: string): Promise<void> {
  setView({ renamingProject: null });
  await changeProject(project, { name });
}

/** Moves a chat into a project, or out of the one that it is in, which can be undone. */
export const moveChat = (chat: Pick<ChatSummary, "id" | "project">, to: number | null) =>
  attempt(async () => {
    setView({ moving: null });
    if (chat.project === to) return;
    await chatQueue.run(() => shell.moveChat(chat.id, to));
    const undo = () => chatQueue.run(() => shell.moveChat(chat.id, chat.project));
    const name = to === null ? null : named(to)?.name;
    const text = name == null ? t("projects-chat-left") : t("projects-chat-moved", { name });
    setView({ note: { text, undo, about: chat.id } });
  });

/** Moves a chat into a project that is made for it. */
export const moveToNewProject = (chat: Pick<ChatSummary, "id" | "project">, name: string) =>
  attempt(async () => {
    const { id } = await chatQueue.run(() => shell.createProject(name));
    expandProject(id, true);
    await moveChat(chat, id);
  });

/** Lets the person say where a chat is to be moved; the open one if none is given. */
export function chooseProject(chat = state().chat): void {
  if (chat !== null && !isTemporary(chat)) setView({ moving: chat });
}

/** Deletes a project. Where it has chats, it is asked what becomes of them. */
export function askToDelete({ id, chats }: Project): void {
  if (chats > 0) setView({ deletingProject: id });
  else deleteProject(id, false);
}

export const deleteProject = (id: number, withChats: boolean) =>
  attempt(async () => {
    setView({ deletingProject: null });
    const project = named(id);
    await chatQueue.run(() => shell.deleteProject(id, withChats));
    const name = project?.name ?? t("projects-deleted-unnamed");
    const text =
      withChats && project
        ? t("projects-deleted-with-chats", { name, chats: project.chats })
        : t("projects-deleted", { name });
    setView({ note: { text, undo: () => restoreProject(id) } });
  });

/** Brings a deleted project back. Who has restored it from the list of what was deleted sees it there. */
export const restoreProject = (id: number) => attempt(() => chatQueue.run(() => shell.restoreProject(id)));

/** Lets the person choose files for a project. */
export const addFiles = (project: number) =>
  added(project, (onReading) => shell.addProjectFiles(project, onReading));

/**
 * Adds what was dropped on the window to a project: files, and a folder whose files are its own too, in the place of
 * the one that it has. What keeps the folder out keeps none of the files out.
 */
export const addDropped = (project: number, files: string[], folders: string[]) =>
  added(project, async (onReading) => {
    const found: AddedFiles =
      files.length > 0
        ? await shell.addDroppedProjectFiles(project, files, onReading)
        : { replaced: [], refused: [], notes: [] };
    try {
      const { notes } = await takeFolder(project, folders, onReading);
      return { ...found, notes: [...found.notes, ...notes] };
    } catch (error) {
      return { ...found, refused: [...found.refused, reportOf(error)] };
    }
  });

/** Lets the files of a folder that was dropped be those of a project too. It has one folder. */
async function takeFolder(
  project: number,
  [folder, ...others]: string[],
  onReading: (names: string[]) => void,
): Promise<Pick<AddedFiles, "notes">> {
  if (folder === undefined) return { notes: [] };
  if (others.length === 0) return shell.setDroppedProjectFolder(project, folder, onReading);
  const message = t("projects-folders", { folders: others.length + 1 });
  throw new ShellError(ownError("project_folder", message, t("projects-folders.hint")));
}

/** Lets the person choose a folder whose files are those of a project too. */
export const chooseFolder = (project: number) =>
  added(project, (onReading) => shell.chooseProjectFolder(project, onReading));

/**
 * Reads what has changed in the folder of a project. Who has none is not asked. What is read already is enough to ask
 * with: after `patience`, in milliseconds, reading goes on behind what is done next.
 */
export async function readFolderFor(project: Project, patience: number): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const enough = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, patience);
  });
  await Promise.race([readFolder(project), enough]);
  clearTimeout(timer);
}

/** Reads what has changed in the folder of a project. Who has none is not asked. */
export const readFolder = async ({ id, folder }: Project): Promise<void> => {
  if (folder === null) return;
  await added(id, async (onReading) => {
    const { notes, ...rest } = await shell.readProjectFolder(id, onReading);
    setView({ folderNotes: { ...state().folderNotes, [id]: notes } });
    // The page of the project tells them: nobody has asked for it just now.
    return { ...rest, notes: [] };
  });
};

export const leaveFolder = (project: number) => attempt(() => shell.leaveProjectFolder(project));

/** Adds files, says how far that is, and what came of it. */
async function added(
  project: number,
  add: (onReading: (names: string[]) => void) => Promise<AddedFiles>,
): Promise<void> {
  const onReading = (names: string[]) => {
    const { [project]: _, ...others } = state().readingFiles;
    setView({ readingFiles: names.length > 0 ? { ...others, [project]: names } : others });
  };
  try {
    setView({ actionError: null });
    const { replaced, refused, notes } = await add(onReading);
    const [first] = refused;
    if (first) {
      const message = sentences(...refused.map(why));
      setView({ actionError: ownError(first.code, message, told(first).hint) });
    }
    const undo = async () => {
      for (const file of replaced) await shell.restoreProjectFile(file);
    };
    const words =
      replaced.length > 0 ? [t("projects-files-replaced", { files: replaced.length }), ...notes] : notes;
    if (words.length > 0)
      setView({ note: { text: words.join("\n"), undo: replaced.length > 0 ? undo : null } });
  } catch (error) {
    showError(error, null);
  } finally {
    onReading([]);
  }
}

/** Takes a file out of its project, which can be undone. */
export const removeFile = ({ id, name }: Project["files"][number]) =>
  attempt(async () => {
    await shell.removeProjectFile(id);
    const undo = () => shell.restoreProjectFile(id);
    setView({ note: { text: t("projects-file-removed", { name }), undo } });
  });
