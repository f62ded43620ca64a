import { followVoices, stopReading } from "../aloud/actions";
import type { AppEvent, Snapshot } from "../bridge/bindings";
import { reportOf, ShellError, shell } from "../bridge/bridge";
import { chatQueue, settingsQueue } from "../bridge/serialQueue";
import { attachDropped } from "../chat/attaching";
import { followFiles, followPictures, followText, saveDrafts } from "../chat/drafts";
import { followChat, openChat, readAgain } from "../chat/navigation";
import { followQueue, takeAllBack } from "../chat/queue";
import { goOn } from "../chat/summarise";
import { noteDeleted } from "../chatList/deleting";
import { importChats } from "../chatList/files";
import { followLanguage } from "../language/load";
import { addModels, loadLibrary } from "../models/actions";
import type { Run } from "../palette/table";
import { addDropped, seenProject } from "../projects/actions";
import { syncDefaults, syncPreferences } from "../settings/actions";
import { dispatch, setView, useStore } from "../state/store";
import { showError } from "./errors";
import { applySnapshot } from "./snapshot";
import { saveTyped } from "./typedText";

/** Takes over a change that the shell tells; `run` does what is chosen in the menu bar. */
function onAppEvent(event: AppEvent, run: Run): void {
  switch (event.type) {
    case "preferences":
      syncPreferences(event.preferences);
      followLanguage(keepTyped);
      break;
    case "settings":
      syncDefaults(event.settings);
      break;
    default:
      dispatch({ kind: "app", event });
      if (event.type === "dropped") onDropped(event.folders, event.files);
      else if (event.type === "chats_gone") onGone(event.chats);
      else if (event.type === "chats_trouble") leaveAlone();
      else if (event.type === "chat_changed") followChat(event.chat);
      else if (event.type === "draft_text") followText(event.chat, event.text);
      else if (event.type === "draft_files") followFiles(event.chat, event.files);
      else if (event.type === "draft_pictures") followPictures(event.chat, event.pictures);
      else if (event.type === "chat_deleted") noteDeleted(event.deletion);
      else if (event.type === "hidden") stopReading();
      else if (event.type === "action") run(event.action);
      else if (event.type === "open_chat") openChat(event.chat);
      else if (event.type === "summary_written") goOn(event.chat, event.begun);
      else if (event.type === "summary_failed") showError(new ShellError(event.error), event.chat);
      else if (event.type === "closing") keepTyped().then(shell.handedOver);
  }
}

/** What was said of a chat that is gone goes with it, and so does its window. */
function onGone(chats: number[]): void {
  const { note, alone } = useStore.getState();
  if (note?.about !== undefined && chats.includes(note.about)) setView({ note: null });
  if (alone !== null && chats.includes(alone)) leaveAlone();
}

/** Closes a window that shows a chat alone. */
function leaveAlone(): void {
  if (useStore.getState().alone !== null) shell.closeWindow().catch(showError);
}

/**
 * Lets the shell keep what was typed and chosen last, before the app, a window or its page ends. What waits in a window
 * for one chat is a draft again, which the main window shows.
 */
function keepTyped(): Promise<unknown> {
  if (useStore.getState().alone !== null) takeAllBack();
  return Promise.all([saveTyped(), saveDrafts(), chatQueue.settled(), settingsQueue.settled()]);
}

/**
 * A folder may be a model and a JSON file holds chats; the text of every other file goes with the next message. To the
 * page of a project all of them go.
 */
function onDropped(folders: string[], files: string[]): void {
  // Where one chat is shown, it is meant.
  if (useStore.getState().alone !== null) {
    if (files.length > 0) attachDropped(files);
    return;
  }
  // What is dropped on a project belongs to it, whatever it is called. What is not seen is not meant.
  const project = seenProject(useStore.getState());
  if (project) {
    addDropped(project.id, files, folders);
    return;
  }
  const chats = files.filter(isJson);
  const others = files.filter((path) => !chats.includes(path));
  if (chats.length > 0) importChats(chats);
  if (folders.length > 0) addModels(folders);
  if (others.length > 0) {
    setView({ screen: "chat" });
    attachDropped(others);
  }
}

const isJson = (path: string): boolean => path.toLowerCase().endsWith(".json");

/** Shows what the shell knows and follows its changes. `run` does what is chosen in the menu bar. */
export const start = (run: Run): Promise<void> => open(run, async (snapshot) => applySnapshot(snapshot));

/** The same in a window that shows one chat alone. */
export function startAlone(chat: number, run: Run): Promise<void> {
  setView({ alone: chat });
  return open(run, async (snapshot) => {
    dispatch({ kind: "snapshot", snapshot: { ...snapshot, open: null } });
    await readAgain(chat);
  });
}

/** Shows with `show` what the shell knows, and follows its changes. */
async function open(run: Run, show: (snapshot: Snapshot) => Promise<void>): Promise<void> {
  try {
    await show(await shell.watch((event) => onAppEvent(event, run)));
  } catch (error) {
    dispatch({
      kind: "app",
      event: { type: "engine", engine: { state: "failed", error: reportOf(error), model: null } },
    });
  }
  setView({ opened: true });
  followQueue();
  followVoices();
  window.addEventListener("pagehide", saveDrafts);
  window.addEventListener("blur", saveDrafts);
  loadLibrary();
}
