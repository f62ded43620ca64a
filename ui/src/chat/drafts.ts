import type { Attachment, Draft, Message, MessagePicture, UnsentEdit } from "../bridge/bindings";
import { reportOf, shell } from "../bridge/bridge";
import { t } from "../language/text";
import { setView, useStore } from "../state/store";
import { splitFiles } from "./attachments";
import { draftKey, type Edit, type QueuedMessage } from "./view";

/** A message, as far as it can be edited. */
type EditedMessage = Pick<Message, "id" | "text" | "pictures">;

/** What is typed is kept so many milliseconds later at most. */
const SAVE_DELAY = 400;

/** What is not kept yet, by what it is about: the newest of each. */
const unsaved = new Map<string, () => Promise<unknown>>();
let timer: ReturnType<typeof setTimeout> | undefined;
let saving: Promise<unknown> = Promise.resolve();

/** Changes what is typed and not sent in the open chat. */
export function setDraft(text: string): void {
  change(useStore.getState().chat, text);
}

/** The same in any chat. */
export function setDraftOf(chat: number | null, text: string): void {
  change(chat, text);
}

/** Gives up a draft that was sent, unless the person has typed on. */
export function dropDraft(chat: number | null, sent: string): void {
  if (useStore.getState().drafts[draftKey(chat)] !== sent) return;
  change(chat, "");
  saveDrafts();
}

/** Shows the draft that the shell has kept. What this page knows of is newer. */
export function mergeDraft(chat: number | null, { text, files, pictures: shown }: Draft): void {
  const { drafts, attached, pictures } = useStore.getState();
  const key = draftKey(chat);
  if (!(key in drafts)) setView({ drafts: { ...drafts, [key]: text } });
  if (!(key in attached)) setView({ attached: { ...attached, [key]: files } });
  if (!(key in pictures)) setView({ pictures: { ...pictures, [key]: shown } });
}

/** Shows what was typed in a chat in another window. What is typed here and not kept yet is newer. */
export function followText(chat: number, text: string): void {
  const { drafts } = useStore.getState();
  const key = draftKey(chat);
  if (unsaved.has(`draft ${key}`) || drafts[key] === text) return;
  setView({ drafts: { ...drafts, [key]: text } });
  // What waits here is to be kept with it.
  if (queuedIn(chat).length > 0) keepText(chat);
}

/** Shows the files that go with what is typed in a chat in another window. */
export function followFiles(chat: number, files: Attachment[]): void {
  setView({ attached: { ...useStore.getState().attached, [draftKey(chat)]: files } });
  // What waits here is to be kept with them.
  if (queuedIn(chat).some((waiting) => waiting.files.length > 0)) keepFiles(chat);
}

/** The same for pictures. */
export function followPictures(chat: number, pictures: MessagePicture[]): void {
  setView({ pictures: { ...useStore.getState().pictures, [draftKey(chat)]: pictures } });
  if (queuedIn(chat).some((waiting) => waiting.pictures.length > 0)) keepPictures(chat);
}

/** Takes what was typed and attached since a new chat was begun along into it, unless the person has gone elsewhere. */
export function moveDraft(chat: number): void {
  const { chat: open, drafts, attached, pictures } = useStore.getState();
  if (open !== chat) return;
  const [text, files, shown] = [drafts.new ?? "", attached.new ?? [], pictures.new ?? []];
  if (text !== "") {
    change(null, "");
    change(chat, text);
  }
  if (files.length > 0) {
    setFiles(null, () => []);
    setFiles(chat, () => files);
  }
  if (shown.length > 0) {
    setPictures(null, () => []);
    setPictures(chat, () => shown);
  }
  moveComing(null, chat);
}

/** Takes what was typed and attached in a chat, and what waits there, along into the one that it goes on in. */
export function carryDraft(from: number, to: number): void {
  const { drafts, attached, pictures, queued, held } = useStore.getState();
  const [text, files, shown] = [drafts[from] ?? "", attached[from] ?? [], pictures[from] ?? []];
  const waiting = queuedIn(from);
  if (waiting.length > 0) {
    const { [from]: why, ...others } = held;
    setView({
      queued: { ...queued, [from]: [] },
      held: { ...others, [to]: why ?? t("chat-goes-on") },
    });
    setQueued(to, waiting);
  }
  if (text !== "") {
    change(from, "");
    change(to, text);
  }
  if (files.length > 0 || waiting.length > 0) {
    setFiles(from, () => []);
    setFiles(to, () => files);
  }
  if (shown.length > 0 || waiting.length > 0) {
    setPictures(from, () => []);
    setPictures(to, () => shown);
  }
  if (waiting.length > 0 && text === "") change(from, "");
  moveComing(from, to);
}

/** Takes along what is still to come into a draft: files that are being read, and a prompt that is being filled in. */
function moveComing(from: number | null, to: number): void {
  const moved = <T extends { chat: number | null }>(one: T): T =>
    one.chat === from ? { ...one, chat: to } : one;
  const { pendingFiles, promptCard } = useStore.getState();
  setView({ pendingFiles: pendingFiles.map(moved), promptCard: promptCard && moved(promptCard) });
}

/** Changes the files that are to go with what is typed. */
export function setFiles(chat: number | null, change: (files: Attachment[]) => Attachment[]): void {
  const { attached } = useStore.getState();
  const key = draftKey(chat);
  const files = change(attached[key] ?? []);
  setView({ attached: { ...attached, [key]: files } });
  keepFiles(chat);
}

/** The messages of a chat that wait are kept as one draft with what is typed, and come back as that after a restart. */
const queuedIn = (chat: number | null): QueuedMessage[] =>
  (chat === null ? undefined : useStore.getState().queued[chat]) ?? [];

function keepFiles(chat: number | null): void {
  const own = useStore.getState().attached[draftKey(chat)] ?? [];
  const waiting = queuedIn(chat).flatMap(({ files }) => files);
  enqueueSave(() => shell.setDraftFiles(chat, [...waiting, ...own], waiting.length));
}

function keepPictures(chat: number | null): void {
  const own = useStore.getState().pictures[draftKey(chat)] ?? [];
  const waiting = queuedIn(chat).flatMap(({ pictures }) => pictures);
  enqueueSave(() => shell.setDraftPictures(chat, [...waiting, ...own], waiting.length));
}

function keepText(chat: number | null): void {
  const own = useStore.getState().drafts[draftKey(chat)] ?? "";
  const texts = [...queuedIn(chat).map(({ text }) => text), own].filter((text) => text !== "");
  saveLater(`draft ${draftKey(chat)}`, () => shell.setDraftText(chat, texts.join("\n\n"), own));
}

/** Changes which messages of a chat wait. */
export function setQueued(chat: number, queued: QueuedMessage[]): void {
  setView({ queued: { ...useStore.getState().queued, [chat]: queued } });
  keepText(chat);
  keepFiles(chat);
  keepPictures(chat);
}

/** Changes the pictures that are to go with what is typed. */
export function setPictures(
  chat: number | null,
  change: (pictures: MessagePicture[]) => MessagePicture[],
): void {
  const { pictures } = useStore.getState();
  const key = draftKey(chat);
  const shown = change(pictures[key] ?? []);
  setView({ pictures: { ...pictures, [key]: shown } });
  keepPictures(chat);
}

/** Changes a part of what a message is being changed to. */
export function setEdit(message: EditedMessage, part: Partial<Edit>): void {
  const before = useStore.getState().edits[message.id] ?? {
    text: splitFiles(message.text).text,
    pictures: null,
  };
  keepEdit(message.id, { ...before, ...part });
}

/** Gives up what a message was being changed to. */
export const dropEdit = (message: number): void => keepEdit(message, null);

function keepEdit(message: number, edit: Edit | null): void {
  setView({ edits: { ...useStore.getState().edits, [message]: edit } });
  saveLater(`edit ${message}`, () => shell.setEdit(message, edit));
}

/** The pictures that a message of the person's has, or is to have. */
export const editPictures = ({ id, pictures }: EditedMessage): MessagePicture[] =>
  useStore.getState().edits[id]?.pictures ?? pictures;

/** Shows the edits that the shell has kept. What this page knows of is newer. */
export function mergeEdits(edits: UnsentEdit[]): void {
  const kept = Object.fromEntries(edits.map(({ message, ...edit }) => [message, edit]));
  setView({ edits: { ...kept, ...useStore.getState().edits } });
}

/** Forgets what was typed and attached in chats and messages whose numbers others may be given. */
export function forgetDrafts(): void {
  for (const about of unsaved.keys()) if (about !== `draft ${draftKey(null)}`) unsaved.delete(about);
  const { drafts, attached, pictures } = useStore.getState();
  setView({
    edits: {},
    queued: {},
    held: {},
    drafts: { new: drafts.new ?? "" },
    attached: { new: attached.new ?? [] },
    pictures: { new: pictures.new ?? [] },
  });
}

/** Lets the shell keep what was typed, in the order in which it was. Fulfilled once it has. */
export function saveDrafts(): Promise<unknown> {
  clearTimeout(timer);
  timer = undefined;
  for (const save of unsaved.values()) enqueueSave(save);
  unsaved.clear();
  return saving;
}

function saveLater(about: string, save: () => Promise<unknown>): void {
  unsaved.set(about, save);
  timer ??= setTimeout(saveDrafts, SAVE_DELAY);
}

function enqueueSave(save: () => Promise<unknown>): void {
  // A chat may have been deleted in the meantime; then there is nothing to keep.
  saving = saving.then(save).catch((error) => console.warn(reportOf(error)));
}

function change(chat: number | null, text: string): void {
  const { drafts } = useStore.getState();
  setView({ drafts: { ...drafts, [draftKey(chat)]: text } });
  keepText(chat);
}
