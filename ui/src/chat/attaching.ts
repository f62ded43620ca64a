import {
  ATTACHMENT_BYTES,
  ATTACHMENT_FILES,
  type Attached,
  type Attachment,
  MESSAGE_PICTURES,
  type Message,
  type MessagePicture,
  type PictureDetail,
  type ServerResource,
} from "../bridge/bindings";
import { ShellError, shell } from "../bridge/bridge";
import { showError } from "../frame/errors";
import { t } from "../language/text";
import { ownError } from "../language/told";
import { setView, useStore } from "../state/store";
import { editPictures, setEdit, setFiles, setPictures } from "./drafts";
import { contentsOf } from "./pasted";
import { draftKey, type PendingFiles } from "./view";
import { visible } from "./visible";

const state = () => useStore.getState();

/** Lets the person choose files that go with the next message. */
export const chooseAttachments = () => attach((begin, chat) => shell.chooseAttachments(chat, false, begin));

/** The same among pictures alone. */
export const choosePictures = () => attach((begin, chat) => shell.chooseAttachments(chat, true, begin));

/** Lets files that were dropped on the window go with the next message. */
export const attachDropped = (paths: string[]) =>
  attach((begin, chat) => {
    begin(paths.map((path) => path.split(/[/\\]/).at(-1) ?? path));
    return shell.attachDropped(chat, paths);
  });

/** Lets files that were pasted go with the next message. */
export const attachPasted = (files: File[]) =>
  attach(async (begin, chat) => {
    begin(files.map(({ name }) => name));
    return shell.attachPasted(chat, await contentsOf(files));
  });

/** Lets something that a server has to read go with the next message. */
export const attachResource = (server: string, { address, name }: ServerResource) =>
  attach((begin, chat) => {
    begin([visible(name)]);
    return shell.attachResource(chat, server, address);
  });

let last = 0;

/** Says what something is called that is awaited. From then on the message waits for it. */
type Begin = (names: string[]) => void;

/** Lets the files that `read` gives go with the next message. */
const attach = (read: (begin: Begin, chat: number | null) => Promise<Attached>): Promise<void> =>
  whilePending(read, putAttached);

/**
 * Puts what `read` gives into the next message of the chat that is open now, or of the one that it becomes, whatever
 * is opened meanwhile. Once `read` has called `begin` with its names, that message waits for it.
 */
export async function whilePending<T>(
  read: (begin: Begin, chat: number | null) => Promise<T>,
  put: (got: T, chat: number | null) => void,
): Promise<void> {
  last += 1;
  const id = last;
  const { chat } = state();
  const begin = (names: string[]) => {
    const name = names.length === 1 ? (names[0] ?? "") : t("chat-file-count", { count: names.length });
    change((pendingFiles) => pendingFiles.map((one) => (one.id === id ? { ...one, name } : one)));
  };
  change((pendingFiles) => [...pendingFiles, { id, chat, name: null }]);
  try {
    const got = await read(begin, chat);
    ifStillPending(id, (chat) => put(got, chat));
  } catch (error) {
    ifStillPending(id, (chat) => showError(error, chat));
  } finally {
    dropPendingFiles(id);
  }
}

/** Attaches what was read to the next message of a chat; where that would be too much, none of it. */
export function putAttached({ files, pictures, notes }: Attached, chat: number | null): void {
  const [before, shown] = [state().attached[draftKey(chat)] ?? [], state().pictures[draftKey(chat)] ?? []];
  const [all, allShown] = [withinLimits([...before, ...files]), notTooMany([...shown, ...pictures])];
  if (files.length > 0) setFiles(chat, () => all);
  if (pictures.length > 0) setPictures(chat, () => allShown);
  if (notes.length > 0) setView({ note: { text: notes.join("\n"), undo: null } });
}

/** No longer waits for files that are being read. They are not attached. */
export const dropPendingFiles = (id: number): void =>
  change((pendingFiles) => pendingFiles.filter((one) => one.id !== id));

/** Does something for the chat that files were meant for, unless the person has taken them away. */
function ifStillPending(id: number, act: (chat: number | null) => void): void {
  const pendingFiles = state().pendingFiles.find((one) => one.id === id);
  if (pendingFiles) act(pendingFiles.chat);
}

/** The files of one message, if they are not too many or too large. */
function withinLimits(files: Attachment[]): Attachment[] {
  const bytes = files.reduce((sum, { text }) => sum + new TextEncoder().encode(text).length, 0);
  if (files.length > ATTACHMENT_FILES)
    throw new ShellError(
      ownError(
        "attachments_too_many",
        t("chat-too-many-files", { most: ATTACHMENT_FILES }),
        t("chat-too-many-files.hint"),
      ),
    );
  if (bytes > ATTACHMENT_BYTES)
    throw new ShellError(
      ownError(
        "attachment_too_large",
        t("chat-files-too-large", { most: ATTACHMENT_BYTES >> 20 }),
        t("chat-files-too-large.hint"),
      ),
    );
  return files;
}

/** The pictures of one message, if they are not too many. */
function notTooMany(pictures: MessagePicture[]): MessagePicture[] {
  if (pictures.length <= MESSAGE_PICTURES) return pictures;
  throw new ShellError(
    ownError(
      "pictures_too_many",
      t("chat-too-many-pictures", { most: MESSAGE_PICTURES }),
      t("chat-too-many-pictures.hint"),
    ),
  );
}

/** Takes a picture away from the next message. */
export function hide(index: number): void {
  setPictures(state().chat, (pictures) => pictures.toSpliced(index, 1));
}

/** Lets the model see a picture of the next message in another detail. */
export async function setDetail(index: number, detail: PictureDetail): Promise<void> {
  const { chat, pictures } = state();
  const changed = await inDetail(pictures[draftKey(chat)]?.[index], detail);
  if (changed) setPictures(chat, (shown) => replaced(shown, index, changed));
}

/** Lets the model see a picture of an edited message in another detail. */
export async function setEditDetail(message: Message, index: number, detail: PictureDetail): Promise<void> {
  const changed = await inDetail(editPictures(message)[index], detail);
  if (changed && isEdited(message)) {
    setEdit(message, { pictures: replaced(editPictures(message), index, changed) });
  }
}

/** Whether a message is still being changed: its edit may have been given up or sent meanwhile. */
const isEdited = ({ id }: Message): boolean => state().editing === id || Boolean(state().edits[id]);

/** A picture in another detail; null where it cannot be, which is said. */
async function inDetail(
  picture: MessagePicture | undefined,
  detail: PictureDetail,
): Promise<MessagePicture | null> {
  const { chat } = state();
  try {
    return picture ? await shell.pictureInDetail(picture, detail) : null;
  } catch (error) {
    showError(error, chat);
    return null;
  }
}

/** Pictures with another in the place of the same one, if it is still there. */
const replaced = (pictures: MessagePicture[], index: number, by: MessagePicture): MessagePicture[] =>
  pictures.map((one, at) => (at === index && one.hash === by.hash ? by : one));

/** Lets the person choose pictures that go with an edited message. It waits for them once they are chosen. */
export async function addPictures(message: Message): Promise<void> {
  const { chat } = state();
  try {
    const { pictures, notes } = await shell.chooseAttachments(chat, true, () =>
      setView({ addingTo: message.id }),
    );
    if (notes.length > 0) setView({ note: { text: notes.join("\n"), undo: null } });
    const all = notTooMany([...editPictures(message), ...pictures]);
    if (pictures.length > 0 && isEdited(message)) setEdit(message, { pictures: all });
  } catch (error) {
    showError(error, chat);
  } finally {
    setView({ addingTo: null });
  }
}

/** Takes a file away from the next message. */
export function detach(index: number): void {
  setFiles(state().chat, (files) => files.toSpliced(index, 1));
}

function change(change: (pendingFiles: PendingFiles[]) => PendingFiles[]): void {
  setView({ pendingFiles: change(state().pendingFiles) });
}
