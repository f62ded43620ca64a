import { openChat, show, showChat, showError } from "../actions";
import { shell } from "../bridge";
import { dispatch, setView, useStore } from "../store";

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

/** Lists the chats with a tag, or all. */
export const listChats = (tag: string | null) =>
  attempt(async () => {
    const page = await shell.chatPage(tag, null, PAGE);
    dispatch({ kind: "listed", tag, after: null, page });
  });

let asking = false;

/** Asks for more of the list, if there is more. */
export async function listMore(): Promise<void> {
  const { tag, moreChats: after } = state();
  if (after === null || asking) return;
  asking = true;
  await attempt(async () => {
    const page = await shell.chatPage(tag, after, PAGE);
    dispatch({ kind: "listed", tag, after, page });
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
  if (await showChat(() => shell.showMessage(message))) setView({ jump: { message, lit: true } });
}

/** Shows another version of a message. */
export const showVersion = (message: number) => showChat(() => shell.showMessage(message));

/** Goes on from a message in a chat of its own. */
export const branchChat = (message: number) => showChat(() => shell.branchChat(message));

export async function renameChat(chat: number, title: string): Promise<void> {
  setView({ renaming: null });
  await attempt(() => shell.renameChat(chat, title));
}

export const pinChat = (chat: number, pinned: boolean) => attempt(() => shell.pinChat(chat, pinned));

export async function tagChat(chat: number, tags: string[]): Promise<void> {
  if (!(await attempt(() => shell.tagChat(chat, tags)))) return;
  setView({ tagging: null });
  const { tag, tags: known } = state();
  // The last chat that had the tag may have lost it.
  if (tag !== null && !known.some(({ name }) => name === tag)) listChats(null);
}

export const deleteMessage = (message: number) =>
  attempt(async () => {
    const { deletion, chat } = await shell.deleteMessage(message);
    show(chat);
    setView({ note: { words: "The message was deleted.", undo: () => undoDeletion(deletion, true) } });
  });

export const deleteChat = (chat: number, title: string) =>
  attempt(async () => {
    const shown = state().chat === chat;
    const deletion = await shell.deleteChat(chat);
    const words = title === "" ? "The chat was deleted." : `“${title}” was deleted.`;
    setView({ note: { words, undo: () => undoDeletion(deletion, shown) } });
  });

/** Brings back what was deleted. `shown`: whether its chat is to be shown then. */
async function undoDeletion(deletion: number, shown: boolean): Promise<void> {
  const chat = await shell.undoDeletion(deletion);
  if (shown) show(await shell.openChat(chat));
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
