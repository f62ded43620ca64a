import type { Deletion } from "../bridge/bindings";
import { shell } from "../bridge/bridge";
import { chatQueue } from "../bridge/serialQueue";
import { readAgain, showChat } from "../chat/navigation";
import { attempt } from "../frame/errors";
import { t } from "../language/text";
import { dispatch, setView, useStore } from "../state/store";

const state = () => useStore.getState();

export const deleteMessage = (message: number) =>
  attempt(async () => {
    const { latest } = state().navigation;
    const { deletion, chat } = await chatQueue.run(() => shell.deleteMessage(message));
    if (state().navigation.latest === latest) {
      dispatch({ kind: "changed", opened: chat });
      setView({ editing: null, inspectedReply: null });
    } else if (state().chat === chat.chat.id && !state().navigation.pending) readAgain(chat.chat.id);
    setView({ note: { text: t("chats-message-deleted"), undo: () => undoDeletion(deletion, true) } });
  });

export const deleteChat = (chat: number, title: string) =>
  attempt(async () => {
    const shown = state().chat === chat;
    const deletion = await chatQueue.run(() => shell.deleteChat(chat));
    noteChatDeleted(deletion, title, shown);
  });

function noteChatDeleted(deletion: number, title: string, shown: boolean): void {
  const text = title === "" ? t("chats-chat-deleted") : t("chats-named-deleted", { title });
  setView({ note: { text, undo: () => undoDeletion(deletion, shown) } });
}

/** Says that a chat was deleted in its own window, which is gone and says nothing. */
export function noteDeleted(deletion: number): void {
  const title = state().deletions.find(({ id }) => id === deletion)?.title ?? "";
  noteChatDeleted(deletion, title, false);
}

/** Brings back what was deleted. `shown`: whether its chat is to be shown then. */
async function undoDeletion(deletion: number, shown: boolean): Promise<unknown> {
  const undo = () => chatQueue.run(() => shell.undoDeletion(deletion));
  return shown ? showChat(async (navigation) => shell.openChat(navigation, await undo())) : undo();
}

/** Deletions that are being undone. */
const returning = new Set<number>();

/** Brings back something of the list of what was deleted, and goes there. */
export async function bringBack({ id, message }: Deletion): Promise<void> {
  if (returning.has(id)) return;
  returning.add(id);
  const isBack = await showChat(async (navigation) => {
    const chat = await chatQueue.run(() => shell.undoDeletion(id));
    return message === null ? shell.openChat(navigation, chat) : shell.showMessage(navigation, message);
  });
  returning.delete(id);
  if (isBack && message !== null) setView({ jump: { message, highlighted: true } });
}
