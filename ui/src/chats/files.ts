import { reload } from "../actions";
import type { ExportFormat, ImportReport } from "../bindings";
import { shell } from "../bridge";
import { count } from "../format";
import { setView } from "../store";
import { attempt, listChats } from "./actions";
import { forgetDrafts } from "./drafts";

/** Writes a chat, or all, into a file that the person chooses. */
export const exportChats = (chat: number | null, format: ExportFormat) =>
  attempt(async () => {
    const path = await shell.exportChats(chat, format);
    if (path !== null) setView({ note: { words: `Exported to ${path}`, undo: null } });
  });

/** Adds the chats of a file that the person chooses. */
export const chooseImport = () =>
  attempt(async () => {
    const path = await shell.chooseChatsFile();
    if (path !== null) await importChats(path);
  });

/** Adds the chats of a file, and says what came in. */
export const importChats = (path: string) =>
  attempt(async () => {
    setView({ screen: "chat" });
    const report = await shell.importChats(path);
    await listChats(null);
    setView({ note: { words: importWords(report), undo: null } });
  });

/** Puts the last good copy in the place of chats that are damaged. */
export const restoreChats = () =>
  attempt(async () => {
    await shell.restoreChats();
    // The copy is older: what it gives numbers to next is not what had them here.
    forgetDrafts();
    setView({ editing: null, numbers: null, actionError: null });
    await reload();
  });

const several = (number: number, one: string): string => `${count(number)} ${one}${number === 1 ? "" : "s"}`;

/** What an import has added. */
export function importWords({ chats, messages, left_out }: ImportReport): string {
  const added = `${several(chats, "chat")} with ${several(messages, "message")} added.`;
  if (left_out === 0) return added;
  return `${added} ${several(left_out, "piece")} without a place here, such as images, left out.`;
}
