import { focusComposer } from "../chat/focus";
import { type State, setView, useStore } from "../state/store";
import { matchesOf, matchFrom } from "./matches";
import type { Find, Match } from "./view";

const state = () => useStore.getState();

/** Where one is while nothing matches. */
const NOWHERE: Match = { message: 0, thought: false, nth: 0 };

/** What is looked for in the chat that is open. */
export const openFind = ({ find, chat }: Pick<State, "find" | "chat">): Find | null =>
  find !== null && find.chat === chat ? find : null;

/** Lets the person say what to find in the open chat; says whether there is one, and they do not do so already. */
export function findHere(): boolean {
  const { chat, screen, messages, find } = state();
  const field = document.querySelector<HTMLInputElement>("[data-testid=find-field]");
  if (screen !== "chat" || chat === null || messages.length === 0) return false;
  if (field !== null && field === document.activeElement) return false;
  const open = openFind({ find, chat });
  setView({ find: open ? { ...open, field: true } : { chat, query: "", current: NOWHERE, field: true } });
  requestAnimationFrame(() => document.querySelector<HTMLInputElement>("[data-testid=find-field]")?.select());
  return true;
}

/** Looks for other words in the open chat, from the match on that one is at. */
export function findWords(query: string): void {
  const find = openFind(state());
  if (!find) return;
  const { messages } = state();
  const matches = matchesOf(messages, query);
  const place = ({ message }: Match) => messages.findIndex(({ id }) => id === message);
  const here = place(find.current);
  const current = matches.find((match) => place(match) >= here) ?? matches[0] ?? NOWHERE;
  setView({ find: { ...find, query, current: { ...current } } });
}

/** Goes to the match so many further on. */
export function goToMatch(steps: number): void {
  const find = openFind(state());
  const current = find && matchFrom(find, matchesOf(state().messages, find.query), steps);
  if (find && current) setView({ find: { ...find, current: { ...current } } });
}

/** Ends the search in the chat. Whoever was in its bar goes on writing. */
export function closeFind(): void {
  const within = document.activeElement?.closest("[data-testid=find-bar]") != null;
  setView({ find: null });
  if (within) focusComposer();
}
