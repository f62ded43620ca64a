import { toggleReading } from "../aloud/actions";
import { openBenchmarks } from "../benchmarks/actions";
import type { ActionId } from "../bridge/bindings";
import { shell } from "../bridge/bridge";
import { editLast, stop, toggleInspector, toggleStats } from "../chat/actions";
import { focusComposer } from "../chat/focus";
import { newChat, newTemporaryChat, openWindow } from "../chat/navigation";
import { takeBack } from "../chat/queue";
import { compareHere } from "../chat/sideBySide";
import { focusSearch, goToChat, searchChats } from "../chatList/actions";
import { chooseImport, exportChats } from "../chatList/files";
import { findHere, goToMatch, openFind } from "../find/actions";
import { openModels } from "../models/actions";
import type { Commands } from "../palette/table";
import { printChat } from "../paper/actions";
import { chooseProject, createProject } from "../projects/actions";
import { toggleRevealDrafts } from "../reveal/actions";
import { changeZoom, openSettings } from "../settings/actions";
import { setView, useStore } from "../state/store";
import { checkForUpdates } from "../updates/actions";
import { toggleSidebar } from "./drawer";
import { showError } from "./errors";

const state = () => useStore.getState();

/** What every action does. A new one stands here, and in a feature the function that it calls. */
export const COMMANDS: Commands = {
  new_chat: () => newChat(),
  quick_question: () => shell.quickQuestion().catch(showError),
  new_temporary_chat: () => newTemporaryChat(),
  open_window: () => openWindow(state().chat),
  new_project: () => createProject(),
  move_chat: () => chooseProject(),
  find: () => {
    const words = openFind(state())?.query;
    if (findHere()) return;
    // Whoever asks again wants to find the same in all chats.
    if (words) searchChats(words);
    focusSearch();
  },
  find_chats: () => focusSearch(),
  find_next: () => goToMatch(1),
  find_previous: () => goToMatch(-1),
  palette: () => setView({ palette: !state().palette, shortcuts: false }),
  focus_composer: () => {
    // In the chat that opens, the field takes the focus by itself.
    setView({ screen: "chat" });
    focusComposer();
  },
  // What waits to be sent is the last that was written.
  edit_last: () => takeBack() || editLast(),
  stop: () => stop(),
  statistics: () => toggleStats(),
  compare_versions: () => compareHere(),
  read_aloud: () => toggleReading(),
  reveal_drafts: () => toggleRevealDrafts(),
  next_chat: () => goToChat(1),
  previous_chat: () => goToChat(-1),
  export_chat: () => exportChats(state().chat, "markdown"),
  export_html: () => exportChats(state().chat, "html"),
  print: () => printChat(state().chat),
  export_chats: () => exportChats(null, "json"),
  import_chats: () => chooseImport(),
  toggle_sidebar: () => toggleSidebar(),
  toggle_inspector: () => toggleInspector(),
  zoom_in: () => changeZoom(1),
  zoom_out: () => changeZoom(-1),
  actual_size: () => changeZoom(0),
  unload: () => shell.unloadModel().catch(showError),
  models: () => openModels(),
  benchmarks: () => openBenchmarks(),
  settings: () => openSettings(),
  check_for_updates: () => checkForUpdates(),
  shortcuts: () => setView({ shortcuts: !state().shortcuts, palette: false }),
  diagnostics: () => openSettings("diagnostics"),
  close_window: () => shell.closeWindow().catch(showError),
  quit: () => shell.quit().catch(showError),
};

/** What is done in the main window, wherever it is asked for. */
const IN_MAIN: ActionId[] = [
  "new_temporary_chat",
  "new_project",
  "find_chats",
  "export_chats",
  "import_chats",
  "models",
  "benchmarks",
  "check_for_updates",
];

/** What every action does in a window that shows one chat alone. */
export const ALONE_COMMANDS: Commands = {
  ...COMMANDS,
  ...Object.fromEntries(IN_MAIN.map((id) => [id, () => shell.act(id).catch(showError)])),
  // Whoever asks again wants to find the same in all chats, which the main window lists.
  find: () => findHere() || shell.act("find_chats").catch(showError),
};
