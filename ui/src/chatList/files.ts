import type { ErrorReport, ExportFormat, ImportReport } from "../bridge/bindings";
import { ShellError, shell } from "../bridge/bridge";
import { forgetDrafts } from "../chat/drafts";
import { attempt } from "../frame/errors";
import { reloadSnapshot } from "../frame/snapshot";
import { count } from "../primitives/format";
import { setView } from "../state/store";
import { listChats } from "./actions";

/** Writes a chat, or all, into a file that the person chooses. */
export const exportChats = (chat: number | null, format: ExportFormat) =>
  attempt(async () => {
    const path = await shell.exportChats(chat, format);
    if (path !== null) setView({ note: { text: `Exported to ${path}`, undo: null } });
  });

/** Adds the chats of a file that the person chooses. */
export const chooseImport = () =>
  attempt(async () => {
    const path = await shell.chooseChatsFile();
    if (path !== null) await importChats([path]);
  });

/** Adds the chats of files, and says what came in and what did not. */
export const importChats = (paths: string[]) =>
  attempt(async () => {
    setView({ screen: "chat" });
    const { added, refused } = await shell.importChats(paths);
    await listChats(null);
    const read = paths.length - refused.length;
    const words = read > 0 ? importLabel(added, read) : null;
    if (refused.length > 0) throw new ShellError(refusal(words, refused));
    if (words !== null) setView({ note: { text: words, undo: null } });
  });

/** Puts the last good copy in the place of chats that are damaged. */
export const restoreChats = () =>
  attempt(async () => {
    await shell.restoreChats();
    // The copy is older: what it gives numbers to next is not what had them here.
    forgetDrafts();
    setView({ editing: null, inspectedReply: null, actionError: null });
    await reloadSnapshot();
  });

const several = (number: number, one: string): string => `${count(number)} ${one}${number === 1 ? "" : "s"}`;

/** What an import of so many files has added. */
export function importLabel(report: ImportReport, files = 1): string {
  const { chats, messages, left_out, missing_pictures } = report;
  const from = files > 1 ? ` from ${several(files, "file")}` : "";
  const added = `${several(chats, "chat")} with ${several(messages, "message")} added${from}.`;
  const words = [added];
  if (left_out > 0)
    words.push(`${several(left_out, "piece")} without a place here, such as images, left out.`);
  if (missing_pictures > 0)
    words.push(`${several(missing_pictures, "picture")} missing: not in the file, or damaged.`);
  return words.join(" ");
}

/** How many files are named that were not imported. */
const NAMED = 5;

/** Why files were not imported, and what was. */
function refusal(added: string | null, refused: ErrorReport[]): ErrorReport {
  const rest = refused.length - NAMED;
  const messages = refused.slice(0, NAMED).map(({ message }) => message);
  if (rest > 0) messages.push(`${several(rest, "more file")} could not be imported either.`);
  const hints = new Set(refused.slice(0, NAMED).map(({ hint }) => hint));
  const hint = [added, ...hints].filter((words) => words !== null).join(" ");
  return { code: "not_imported", message: messages.join("\n"), hint };
}
