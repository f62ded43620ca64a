import type { ErrorReport, Exported, ExportedPictures, ImportReport } from "../bridge/bindings";
import { ShellError, shell } from "../bridge/bridge";
import { forgetDrafts } from "../chat/drafts";
import { attempt } from "../frame/errors";
import { reloadSnapshot } from "../frame/snapshot";
import { t } from "../language/text";
import { ownError, told, why } from "../language/told";
import { saveChat } from "../paper/actions";
import { setView, useStore } from "../state/store";
import { listChats } from "./actions";
import type { Export, FileFormat } from "./view";

/**
 * Writes a chat, or all, into a file that the person chooses. Where there are pictures, what becomes of them is asked.
 */
export const exportChats = (chat: number | null, format: FileFormat) =>
  attempt(async () => {
    const { bytes: pictureBytes } = await shell.sizeOfExportedPictures(chat, ofBranch(format));
    if (pictureBytes === 0) await write({ chat, format, pictureBytes }, "left_out");
    else setView({ exporting: { chat, format, pictureBytes } });
  });

/** Goes on with the export that waits, or gives it up. */
export const goOnExporting = (pictures: ExportedPictures | null) =>
  attempt(async () => {
    const { exporting } = useStore.getState();
    setView({ exporting: null });
    if (exporting && pictures) await write(exporting, pictures);
  });

/** Both formats for people hold the branch that is shown. */
const ofBranch = (format: FileFormat) => (format === "html" ? "markdown" : format);

async function write({ chat, format }: Export, pictures: ExportedPictures): Promise<void> {
  if (format === "html") {
    const path = chat === null ? null : await saveChat(chat, pictures !== "left_out");
    if (path !== null) setView({ note: { text: t("chats-exported", { path }), undo: null } });
    return;
  }
  const exported = await shell.exportChats(chat, format, pictures);
  if (exported) setView({ note: { text: exportLabel(exported), undo: null } });
}

/** Where an export is, and what of its pictures is not in it as it was. */
export function exportLabel({ path, report: { views, missing } }: Exported): string {
  const words = [t("chats-exported", { path })];
  if (views > 0) words.push(t("chats-exported-views", { pictures: views }));
  if (missing > 0) words.push(t("chats-exported-missing", { pictures: missing }));
  return words.join("\n");
}

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

/** What an import of so many files has added. */
export const importLabel = (
  { chats, messages, left_out: leftOut, missing_pictures: missing }: ImportReport,
  files = 1,
): string => t("chats-imported", { chats, messages, files, leftOut, missing });

/** How many files are named that were not imported. */
const NAMED = 5;

/** Why files were not imported, and what was. */
function refusal(added: string | null, refused: ErrorReport[]): ErrorReport {
  const rest = refused.length - NAMED;
  const messages = refused.slice(0, NAMED).map(why);
  if (rest > 0) messages.push(t("chats-not-imported", { files: rest }));
  const hints = new Set(refused.slice(0, NAMED).map((error) => told(error).hint));
  const hint = [added, ...hints].filter((words) => words !== null).join(" ");
  return ownError("not_imported", messages.join("\n"), hint);
}
