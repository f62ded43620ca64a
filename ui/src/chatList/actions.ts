import type { ChatPage, SearchFilter } from "../bridge/bindings";
import { shell } from "../bridge/bridge";
import { chatQueue } from "../bridge/serialQueue";
import { openChat, showMessage } from "../chat/navigation";
import { showSidebar } from "../frame/drawer";
import { attempt } from "../frame/errors";
import { weekBegin } from "../primitives/format";
import { chatFromHere } from "../state/server";
import { dispatch, setView, useStore } from "../state/store";

const state = () => useStore.getState();

/** How many chats are asked for at a time. */
const PAGE = 500;
/** How many places a search tells. */
const HITS = 60;

/** How often the list is asked for again because it has changed meanwhile. */
const TRIES = 5;

/**
 * A part of the list as it is when it comes: an answer may be older than a change that was heard while it was under
 * way.
 */
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

/** Searches all chats. One that begins anew tells all places. */
export async function searchChats(query: string): Promise<void> {
  setView(query.trim() === "" ? { query, hits: null, searchFilter: { kind: "all" } } : { query });
  await search();
}

/** Shows only some of the places that are found. */
export async function filterSearch(searchFilter: SearchFilter): Promise<void> {
  setView({ searchFilter });
  await search();
}

/** Finds what is asked for. While one search runs, of those that come the last is made. */
async function search(): Promise<void> {
  if (searching) return;
  searching = true;
  for (;;) {
    const { query, searchFilter: filter } = state();
    if (query.trim() === "") break;
    const found = await attempt(async () => {
      const found = await shell.searchChats(query, { filter, week: weekBegin(Date.now()) }, HITS);
      if (state().query.trim() !== "") setView({ hits: { ...found, query, filter } });
    });
    if (!found || (state().query === query && state().searchFilter === filter)) break;
  }
  searching = false;
}

/** Opens the place that a search has found. */
export async function openHit(chat: number, message: number | null): Promise<void> {
  if (message === null) return openChat(chat);
  await showMessage(message, state().query);
}

export async function renameChat(chat: number, title: string): Promise<void> {
  setView({ renaming: null });
  await attempt(() => chatQueue.run(() => shell.renameChat(chat, title)));
}

export const pinChat = (chat: number, pinned: boolean) =>
  attempt(() => chatQueue.run(() => shell.pinChat(chat, pinned)));

export async function tagChat(chat: number, tags: string[]): Promise<void> {
  if (!(await attempt(() => chatQueue.run(() => shell.tagChat(chat, tags))))) return;
  if (state().tagging === chat) setView({ tagging: null });
  const { tag, tags: known } = state();
  // The last chat that had the tag may have lost it.
  if (tag !== null && !known.some(({ name }) => name === tag)) listChats(null);
}

/** Lets the person say what to look for in all chats. */
export function focusSearch(): void {
  showSidebar();
  // The field is there once the sidebar is.
  requestAnimationFrame(() =>
    document.querySelector<HTMLInputElement>("[data-testid=chat-search]")?.select(),
  );
}

/** Opens the chat so many rows further down the list. */
export function goToChat(rows: number): void {
  const next = chatFromHere(state(), rows);
  if (next) openChat(next.id);
}
