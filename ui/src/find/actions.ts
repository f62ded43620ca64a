import { focusComposer } from "../chat/focus";
import { type State, setView, useStore } from "../state/store";
import { matchesOf, matchFrom } from "./matches";
import type { Find } from "./view";

const state = () => useStore.getState();

/** What is looked for in the chat that is open. */
export const openFind = ({ find, chat }: Pick<State, "find" | "chat">): Find | null =>
  find !== null && find.chat === chat ? find : null;

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
