import { setView, useStore } from "../state/store";

/** Where somebody is who waits for what they have begun: at the offer, in a sheet, or at a row. */
const BEGUN_IN = ".model-offer, .sheet, .model-row";

/** Whether the focus is where something was begun, or nowhere. */
function waits(): boolean {
  const focus = document.activeElement;
  return focus === null || focus === document.body || focus.closest(BEGUN_IN) !== null;
}

/** Whether the focus is where the person writes. */
const writes = (): boolean => document.activeElement?.matches("input, textarea, [contenteditable]") ?? false;

/**
 * Begins something that may take a while. What this answers leads the focus to what came of it, as long as the person
 * waits for it: whoever has gone on meanwhile, to write for example, stays there and is not led to it later either.
 */
export function leadOn(): (subject: string) => void {
  const { screen, chat } = useStore.getState();
  const left = () => useStore.getState().screen !== screen || useStore.getState().chat !== chat;
  return (subject) => {
    if (left() || !waits()) return;
    setView({ spotlight: subject });
    // What it leads to may not be there yet, and a sheet that closes puts the focus back to where it was before.
    const look = () => {
      if (useStore.getState().spotlight !== subject) stop();
      else if (left() || (writes() && !waits())) setView({ spotlight: null });
    };
    const stop = () => {
      unsubscribe();
      document.removeEventListener("focusin", look);
    };
    const unsubscribe = useStore.subscribe(look);
    document.addEventListener("focusin", look);
  };
}
