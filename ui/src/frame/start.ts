import type { AppEvent } from "../bridge/bindings";
import { reportOf, shell } from "../bridge/bridge";
import { chatQueue, settingsQueue } from "../bridge/serialQueue";
import { attachDropped } from "../chat/attaching";
import { saveDrafts } from "../chat/drafts";
import { openChat } from "../chat/navigation";
import { followQueue } from "../chat/queue";
import { importChats } from "../chatList/files";
import { addModels, loadLibrary } from "../models/actions";
import type { Run } from "../palette/table";
import { addDropped } from "../projects/actions";
import { syncDefaults, syncPreferences } from "../settings/actions";
import { shownProject } from "../state/server";
import { dispatch, setView, useStore } from "../state/store";
import { applySnapshot } from "./snapshot";

/** Takes over a change that the shell tells; `run` does what is chosen in the menu bar. */
function onAppEvent(event: AppEvent, run: Run): void {
  switch (event.type) {
    case "preferences":
      syncPreferences(event.preferences);
      break;
    case "settings":
      syncDefaults(event.settings);
      break;
    default:
      dispatch({ kind: "app", event });
      if (event.type === "dropped") onDropped(event.folders, event.files);
      else if (event.type === "chat_gone" && useStore.getState().note?.about === event.chat)
        setView({ note: null });
      else if (event.type === "action") run(event.action);
      else if (event.type === "open_chat") openChat(event.chat);
      else if (event.type === "closing") handOver();
  }
}

/** Lets the shell keep what was typed and chosen last, before the app ends. */
const handOver = () =>
  Promise.all([saveDrafts(), chatQueue.settled(), settingsQueue.settled()]).then(shell.handedOver);

/**
 * A folder may be a model and a JSON file holds chats; the text of every other file goes with the next message, or to
 * the project that is shown.
 */
function onDropped(folders: string[], files: string[]): void {
  const [chats, others] = [files.filter(isJson), files.filter((path) => !isJson(path))];
  if (chats.length > 0) importChats(chats);
  if (folders.length > 0) addModels(folders);
  if (others.length > 0) {
    setView({ screen: "chat" });
    // What is dropped on a project belongs to it.
    const project = shownProject(useStore.getState());
    if (project) addDropped(project.id, others);
    else attachDropped(others);
  }
}

const isJson = (path: string): boolean => path.toLowerCase().endsWith(".json");

/** Shows what the shell knows and follows its changes. `run` does what is chosen in the menu bar. */
export async function start(run: Run): Promise<void> {
  try {
    applySnapshot(await shell.watch((event) => onAppEvent(event, run)));
  } catch (error) {
    dispatch({
      kind: "app",
      event: { type: "engine", engine: { state: "failed", error: reportOf(error), model: null } },
    });
  }
  setView({ opened: true });
  followQueue();
  window.addEventListener("pagehide", saveDrafts);
  window.addEventListener("blur", saveDrafts);
  loadLibrary();
}
