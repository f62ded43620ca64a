import type { ChatSummary } from "../bridge/bindings";
import { keepChat, openWindow, showInMain } from "../chat/navigation";
import { isTemporary } from "../chat/view";
import { keysLabel } from "../palette/table";
import { printChat } from "../paper/actions";
import type { MenuEntry } from "../primitives/MenuButton";
import { chooseProject, moveChat } from "../projects/actions";
import { setView, useStore } from "../state/store";
import { pinChat } from "./actions";
import { deleteChat } from "./deleting";
import { exportChats } from "./files";

/** What can be done with a chat, in the list and where it is open. */
export const chatEntries = (chat: ChatSummary): MenuEntry[] =>
  isTemporary(chat.id) ? temporaryEntries(chat) : storedEntries(chat);

const exportEntries = (id: number): MenuEntry[] => [
  { name: "Export as Markdown…", reason: null, onSelect: () => exportChats(id, "markdown") },
  { name: "Export as HTML…", reason: null, onSelect: () => exportChats(id, "html") },
  { name: "Export as JSON…", reason: null, onSelect: () => exportChats(id, "json") },
  { name: "Print…", reason: null, onSelect: () => printChat(id) },
];

/** What stands in no list has neither pins nor tags nor a name. */
const temporaryEntries = ({ id }: ChatSummary): MenuEntry[] => [
  { name: "Keep this chat", reason: null, onSelect: () => keepChat(id) },
  ...exportEntries(id),
];

const listEntries = (id: number): MenuEntry[] => [
  {
    name: "Open in a new window",
    keys: keysLabel("open_window"),
    reason: null,
    onSelect: () => openWindow(id),
  },
  { name: "Rename", reason: null, onSelect: () => setView({ renaming: id, sidebar: true }) },
];

const storedEntries = ({ id, pinned, title, project }: ChatSummary): MenuEntry[] => [
  ...(useStore.getState().alone === null
    ? listEntries(id)
    : [
        { name: "Show in the main window", reason: null, onSelect: () => showInMain(id) },
        { name: "Rename", reason: null, onSelect: () => setView({ renaming: id }) },
      ]),
  { name: pinned ? "Unpin" : "Pin", reason: null, onSelect: () => pinChat(id, !pinned) },
  { name: "Tags…", reason: null, onSelect: () => setView({ tagging: id }) },
  { name: "Move to a project…", reason: null, onSelect: () => chooseProject(id) },
  ...(project === null
    ? []
    : [{ name: "Take out of its project", reason: null, onSelect: () => moveChat({ id, project }, null) }]),
  ...exportEntries(id),
  { name: "Delete", reason: null, onSelect: () => deleteChat(id, title) },
];
