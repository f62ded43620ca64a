import type { Attachment, Message, MessagePicture } from "../bridge/bindings";
import { onReplyEnd } from "../bridge/replyListeners";
import { t } from "../language/text";
import { setView, useStore } from "../state/store";
import { sendQueued } from "./actions";
import { setDraft, setFiles, setPictures, setQueued } from "./drafts";
import { draftKey, type QueuedMessage } from "./view";

const state = () => useStore.getState();

const queuedIn = (chat: number): QueuedMessage[] => state().queued[chat] ?? [];

let last = 0;

/** Messages that the shell is being given. They are sent, whatever is done with them now. */
const onTheirWay = new Set<number>();

const isOnItsWay = ({ id }: QueuedMessage): boolean => onTheirWay.has(id);

/** Whether a message of a chat goes before what is sent there now. */
export const goesFirst = (chat: number): boolean => queuedIn(chat).some(isOnItsWay);

/** Lets a message of the open chat wait until the reply that is being written has ended. */
export function enqueue(text: string, files: Attachment[], pictures: MessagePicture[]): void {
  const { chat } = state();
  if (chat === null) return;
  // What is asked further is answered next.
  setView({ second: null });
  last += 1;
  const waiting = { id: last, text, files, pictures };
  if (queuedIn(chat).length === 0) setView({ held: without(state().held, chat) });
  setQueued(chat, [...queuedIn(chat), waiting]);
  setDraft("");
  setFiles(chat, () => []);
  setPictures(chat, () => []);
}

/** Takes a message out of those that wait. It can be brought back. */
export function unqueue(chat: number, id: number): void {
  const at = queuedIn(chat).findIndex((one) => one.id === id);
  const dropped = queuedIn(chat)[at];
  if (!dropped || isOnItsWay(dropped)) return;
  remove(chat, id);
  const undo = async () => {
    setQueued(chat, queuedIn(chat).toSpliced(at, 0, dropped));
    // Nothing may be left whose end would have it sent.
    if (Object.values(state().live).every((live) => live.chat !== chat))
      setView({ held: { ...state().held, [chat]: t("reply-held-ended") } });
  };
  setView({ note: { text: t("reply-waiting.dropped"), undo, about: chat } });
}

function remove(chat: number, id: number): void {
  setQueued(
    chat,
    queuedIn(chat).filter((one) => one.id !== id),
  );
}

/** Makes a message that waits the draft again, before what is typed. Without a number it is the last one of the open
 *  chat. Returns whether there was one. */
export function takeBack(id?: number): boolean {
  const { chat, drafts } = state();
  if (chat === null) return false;
  const taken = queuedIn(chat).findLast((one) => !isOnItsWay(one) && (id === undefined || one.id === id));
  if (!taken) return false;
  remove(chat, taken.id);
  const typed = drafts[draftKey(chat)] ?? "";
  setDraft([taken.text, typed].filter((text) => text !== "").join("\n\n"));
  setFiles(chat, (files) => [...taken.files, ...files]);
  setPictures(chat, (pictures) => [...taken.pictures, ...pictures]);
  return true;
}

/** Makes all that wait in the open chat the draft again, as its window closes. */
export function takeAllBack(): void {
  while (takeBack());
}

/** Sends the message of a chat that has waited longest. It waits on where that does not work. */
export async function sendNext(chat: number): Promise<void> {
  const [next] = queuedIn(chat);
  if (!next || isOnItsWay(next)) return;
  setView({ held: without(state().held, chat) });
  onTheirWay.add(next.id);
  const refused = await sendQueued(chat, next);
  onTheirWay.delete(next.id);
  if (refused === null) remove(chat, next.id);
  else setView({ held: { ...state().held, [chat]: refused } });
}

/** Sends what waits in a chat whose reply has ended well, or says why it waits on. */
function onEnd(chat: number, { status }: Message): void {
  if (queuedIn(chat).length === 0) return;
  const ending = status.state === "finished" ? status.reason : "error";
  if (ending === "stop" || ending === "length") sendNext(chat);
  else {
    const why = t(ending === "cancelled" ? "reply-held-stopped" : "reply-held-unfinished");
    setView({ held: { ...state().held, [chat]: why } });
  }
}

/** Lets messages that wait be sent for as long as the page is there. */
export const followQueue = (): void => onReplyEnd(onEnd);

function without(held: Record<number, string>, chat: number): Record<number, string> {
  const { [chat]: _, ...others } = held;
  return others;
}
