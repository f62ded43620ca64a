import type { ChatPage, Deletion } from "../bridge/bindings";
import { shell } from "../bridge/bridge";
import { chatLine } from "../bridge/inOrder";
import { showError } from "../chat/actions";
import { openChat, readAgain, showChat } from "../chat/navigation";
import { dispatch, setView, useStore } from "../state/store";

const state = () => useStore.getState();

/** How many chats are asked for at a time. */
const PAGE = 500;
/** How many places a search tells. */
const HITS = 60;

/** Does something; if it fails, the chat says why. */
export async function attempt(act: () => Promise<unknown>): Promise<boolean> {
  try {
    await act();
    return true;
  } catch (error) {
    showError(error);
    return false;
  }
}

/** How often the list is asked for again because it has changed meanwhile. */
const TRIES = 5;

/** A part of the list as it is when it comes: an answer may be older than a change that was heard while it was under way. */
async function page(ask: () => Promise<ChatPage>): Promise<ChatPage> {
  for (let tries = 1; ; tries += 1) {
    const { listChanges } = state();
    const answer = await ask();
    if (state().listChanges === listChanges || tries >= TRIES) return answer;
  }
}

/** The list that was asked for last. */
let listing = 0;

/** Lists the chats with a tag, or all. */
export const listChats = (tag: string | null) =>
  attempt(async () => {
    listing += 1;
    const mine = listing;
    const first = await page(() => shell.chatPage(tag, null, PAGE));
    if (mine === listing) dispatch({ kind: "listed", tag, after: null, page: first });
  });

let asking = false;

/** Asks for more of the list, if there is more. */
export async function listMore(): Promise<void> {
  const { tag, moreChats: after } = state();
  if (after === null || asking) return;
  asking = true;
  await attempt(async () => {
    const more = await page(() => shell.chatPage(tag, after, PAGE));
    dispatch({ kind: "listed", tag, after, page: more });
  });
  asking = false;
}

let searching = false;

/** Searches all chats. While one search runs, of those that come the last is made. */
export async function searchChats(query: string): Promise<void> {
  setView(query.trim() === "" ? { query, hits: null } : { query });
  if (searching) return;
  searching = true;
  for (let done = ""; state().query.trim() !== "" && state().query !== done; ) {
    done = state().query;
    const found = await attempt(async () => {
      const hits = await shell.searchChats(done, HITS);
      if (state().query.trim() !== "") setView({ hits });
    });
    if (!found) break;
  }
  searching = false;
}

/** Opens the place that a search has found. */
export async function openHit(chat: number, message: number | null): Promise<void> {
  if (message === null) return openChat(chat);
  await showMessage(message);
}

/** Opens the chat of a message and brings that into view. */
async function showMessage(message: number): Promise<void> {
  const there = await showChat((navigation) => shell.showMessage(navigation, message));
  if (there) setView({ jump: { message, lit: true } });
}

/** Shows another version of a message. */
export const showVersion = (message: number) =>
  showChat((navigation) => shell.showMessage(navigation, message));

/** Goes on from a message in a chat of its own. */
export const branchChat = (message: number) =>
  showChat((navigation) => shell.branchChat(navigation, message));

export async function renameChat(chat: number, title: string): Promise<void> {
  setView({ renaming: null });
  await attempt(() => chatLine.run(() => shell.renameChat(chat, title)));
}

export const pinChat = (chat: number, pinned: boolean) =>
  attempt(() => chatLine.run(() => shell.pinChat(chat, pinned)));

export async function tagChat(chat: number, tags: string[]): Promise<void> {
  if (!(await attempt(() => chatLine.run(() => shell.tagChat(chat, tags))))) return;
  if (state().tagging === chat) setView({ tagging: null });
  const { tag, tags: known } = state();
  // The last chat that had the tag may have lost it.
  if (tag !== null && !known.some(({ name }) => name === tag)) listChats(null);
}

export const deleteMessage = (message: number) =>
  attempt(async () => {
    const { asked } = state().navigation;
    const { deletion, chat } = await chatLine.run(() => shell.deleteMessage(message));
    if (state().navigation.asked === asked) {
      dispatch({ kind: "changed", opened: chat });
      setView({ editing: null, numbers: null });
    } else if (state().chat === chat.chat.id && !state().navigation.pending) readAgain(chat.chat.id);
    setView({ note: { words: "The message was deleted.", undo: () => undoDeletion(deletion, true) } });
  });

export const deleteChat = (chat: number, title: string) =>
  attempt(async () => {
    const shown = state().chat === chat;
    const deletion = await chatLine.run(() => shell.deleteChat(chat));
    const words = title === "" ? "The chat was deleted." : `“${title}” was deleted.`;
    setView({ note: { words, undo: () => undoDeletion(deletion, shown) } });
  });

/** Brings back what was deleted. `shown`: whether its chat is to be shown then. */
async function undoDeletion(deletion: number, shown: boolean): Promise<unknown> {
  const undo = () => chatLine.run(() => shell.undoDeletion(deletion));
  return shown ? showChat(async (navigation) => shell.openChat(navigation, await undo())) : undo();
}

/** Deletions that are being undone. */
const returning = new Set<number>();

/** Brings back something of the list of what was deleted, and goes there. */
export async function bringBack({ id, message }: Deletion): Promise<void> {
  if (returning.has(id)) return;
  returning.add(id);
  const isBack = await showChat(async (navigation) => {
    const chat = await chatLine.run(() => shell.undoDeletion(id));
    return message === null ? shell.openChat(navigation, chat) : shell.showMessage(navigation, message);
  });
  returning.delete(id);
  if (isBack && message !== null) setView({ jump: { message, lit: true } });
}

/** Undoes what was done last, once. What that replaces may be a note of its own. */
export async function undo(): Promise<void> {
  const { note } = state();
  const back = note?.undo;
  if (!back) return;
  setView({ note: null });
  let undone: unknown = false;
  await attempt(async () => {
    undone = await back();
  });
  if (undone === false && state().note === null) setView({ note });
}
