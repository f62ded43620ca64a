import type { ChatSummary } from "../bridge/bindings";
import { keepChat, openWindow, showInMain } from "../chat/navigation";
import { isTemporary } from "../chat/view";
import { t } from "../language/text";
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
  { name: t("chats-export-markdown"), reason: null, onSelect: () => exportChats(id, "markdown") },
  { name: t("chats-export-html"), reason: null, onSelect: () => exportChats(id, "html") },
  { name: t("chats-export-json"), reason: null, onSelect: () => exportChats(id, "json") },
  { name: t("chats-print"), reason: null, onSelect: () => printChat(id) },
];

/** What stands in no list has neither pins nor tags nor a name. */
const temporaryEntries = ({ id }: ChatSummary): MenuEntry[] => [
  { name: t("chats-keep-temporary"), reason: null, onSelect: () => keepChat(id) },
  ...exportEntries(id),
];

const listEntries = (id: number): MenuEntry[] => [
  {
    name: t("chats-open-window"),
    keys: keysLabel("open_window"),
    reason: null,
    onSelect: () => openWindow(id),
  },
  { name: t("chats-rename"), reason: null, onSelect: () => setView({ renaming: id, sidebar: true }) },
];

const storedEntries = ({ id, pinned, title, project }: ChatSummary): MenuEntry[] => [
  ...(useStore.getState().alone === null
    ? listEntries(id)
    : [
        { name: t("chats-show-in-main"), reason: null, onSelect: () => showInMain(id) },
        { name: t("chats-rename"), reason: null, onSelect: () => setView({ renaming: id }) },
      ]),
  { name: t(pinned ? "chats-unpin" : "chats-pin"), reason: null, onSelect: () => pinChat(id, !pinned) },
  { name: t("chats-tags"), reason: null, onSelect: () => setView({ tagging: id }) },
  { name: t("chats-move"), reason: null, onSelect: () => chooseProject(id) },
  ...(project === null
    ? []
    : [{ name: t("chats-take-out"), reason: null, onSelect: () => moveChat({ id, project }, null) }]),
  ...exportEntries(id),
  { name: t("chats-delete"), reason: null, onSelect: () => deleteChat(id, title) },
];
