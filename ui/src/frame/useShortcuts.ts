import { useEffect } from "react";
import type { ActionId } from "../bridge/bindings";
import { keysOf, matches } from "../palette/keys";
import { type Run, TABLE } from "../palette/table";
import { MAC } from "../primitives/platform";
import { goToArea } from "./areas";
import { closeNearest } from "./escape";

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
    const done = event.repeat ? "left-to-it" : closeNearest(elementOf(event.target));
    if (done !== "nothing-open") return done === "closed";
  }
  if (event.key === "F6" && !event.metaKey && !event.ctrlKey && !event.altKey)
    return goToArea(event.shiftKey ? -1 : 1);
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

const elementOf = (target: EventTarget | null): Element =>
  target instanceof Element ? target : document.documentElement;

const isEmptyComposer = (target: EventTarget | null): boolean =>
  target instanceof HTMLTextAreaElement && target.dataset.testid === "composer" && target.value === "";
