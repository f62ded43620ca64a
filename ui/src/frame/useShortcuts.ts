import { useEffect } from "react";
import type { ActionId } from "../bridge/bindings";
import { closeInspector } from "../chat/actions";
import { searchChats } from "../chatList/actions";
import { closeFind, openFind } from "../find/actions";
import { keysOf, matches } from "../palette/keys";
import { type Run, TABLE } from "../palette/table";
import { MAC } from "../primitives/platform";
import { streamingReply } from "../state/server";
import { setView, useStore } from "../state/store";

/** What a key that is held down does over and over. */
const REPEATED: ReadonlySet<ActionId> = new Set<ActionId>([
  "zoom_in",
  "zoom_out",
  "next_chat",
  "previous_chat",
  "find_next",
  "find_previous",
]);

/** The keys that work everywhere in the window; `run` does what they say. */
export function useShortcuts(run: Run): void {
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (!act(event, run)) return;
      event.preventDefault();
    };
    // Before the popovers hear it, so that an Escape that closes one is known to be theirs.
    window.addEventListener("keydown", onKeyDown, { capture: true });
    return () => window.removeEventListener("keydown", onKeyDown, { capture: true });
  }, [run]);
}

function act(event: KeyboardEvent, run: Run): boolean {
  if (event.key === "Escape") {
    if (event.repeat || document.querySelector(".popover, .sheet") !== null) return false;
    // What is being edited gives up its change, and the panel that the focus is in goes.
    if (event.target instanceof HTMLElement && event.target.closest("[data-escape]")) return false;
    const state = useStore.getState();
    if (state.screen !== "chat") return leave(event.target);
    if (openFind(state) !== null) {
      closeFind();
      return true;
    }
    if (state.inspector && streamingReply(state) === null) {
      closeInspector();
      return true;
    }
    // The field of the search and what it has found leave it by themselves.
    const inSearch = event.target instanceof HTMLElement && event.target.closest(".sidebar") !== null;
    if (state.query !== "" && !inSearch && streamingReply(state) === null) {
      searchChats("");
      return true;
    }
  }
  for (const action of TABLE) {
    const keys = keysOf(action);
    // On a Mac the menu bar hears the keys that it shows, and sends what was chosen.
    const heard = keys !== null && !(MAC && action.menu !== null) && matches(keys, event);
    if (!heard && (action.also === null || !matches(action.also, event))) continue;
    if (action.id === "edit_last" && !isEmptyComposer(event.target)) return false;
    if (event.repeat && !REPEATED.has(action.id)) return true;
    return run(action.id);
  }
  return false;
}

/** Goes back to the chat. A field that has something in it is emptied first, by itself. */
function leave(target: EventTarget | null): boolean {
  if (target instanceof HTMLInputElement && target.value !== "" && target.type === "search") return false;
  setView({ screen: "chat" });
  return true;
}

const isEmptyComposer = (target: EventTarget | null): boolean =>
  target instanceof HTMLTextAreaElement && target.dataset.testid === "composer" && target.value === "";
