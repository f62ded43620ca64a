import { useEffect } from "react";
import type { ActionId } from "../bridge/bindings";
import { shell } from "../bridge/bridge";
import { keysOf, matches } from "../palette/keys";
import { TABLE } from "../palette/table";
import { MAC } from "../primitives/platform";
import { actInChats, attempt, changeZoom } from "./actions";

/** What concerns this window or all of them; everything else is done in the window with the chats. */
const HERE: Partial<Record<ActionId, () => unknown>> = {
  zoom_in: () => changeZoom(1),
  zoom_out: () => changeZoom(-1),
  actual_size: () => changeZoom(0),
  settings: () => {},
  close_window: () => attempt(shell.closeWindow),
  quit: () => attempt(shell.quit),
};

/** The keys of the window of the settings: those of the app, and Escape, which closes what is open. */
export function useSettingsKeys(): void {
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (act(event)) event.preventDefault();
    };
    window.addEventListener("keydown", onKeyDown, { capture: true });
    return () => window.removeEventListener("keydown", onKeyDown, { capture: true });
  }, []);
}

function act(event: KeyboardEvent): boolean {
  if (event.key === "Escape") {
    if (event.repeat || document.querySelector(".popover, .sheet") !== null) return false;
    attempt(shell.closeWindow);
    return true;
  }
  for (const action of TABLE) {
    const keys = keysOf(action);
    // On a Mac the menu bar hears the keys that it shows. A key alone belongs to what has the focus.
    const heard = keys?.command && !(MAC && action.menu !== null) && matches(keys, event);
    if (!heard && !(action.also?.command && matches(action.also, event))) continue;
    const here = HERE[action.id];
    if (here) here();
    else actInChats(action.id);
    return true;
  }
  return false;
}
