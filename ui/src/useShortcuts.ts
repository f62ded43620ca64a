import { useEffect } from "react";
import { newChat, stop } from "./actions";
import { setView, useStore } from "./store";

const MAC = navigator.userAgent.includes("Macintosh");

/** The keys that work everywhere in the window. */
export function useShortcuts(): void {
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.isComposing || !act(event)) return;
      event.preventDefault();
    };
    // Before the popovers hear it, so that an Escape that closes one is known to be theirs.
    window.addEventListener("keydown", onKeyDown, { capture: true });
    return () => window.removeEventListener("keydown", onKeyDown, { capture: true });
  }, []);
}

function act(event: KeyboardEvent): boolean {
  const command = MAC ? event.metaKey : event.ctrlKey;
  const key = event.key.toLowerCase();
  if (key === "escape") return document.querySelector(".popover") === null && stop();
  if (MAC ? event.metaKey && event.ctrlKey && key === "s" : event.ctrlKey && !event.shiftKey && key === "b") {
    setView({ sidebar: !useStore.getState().sidebar });
    return true;
  }
  if (!command || event.shiftKey || event.altKey) return false;
  switch (key) {
    case ".":
      return stop();
    case "n":
      newChat();
      return true;
    case "l":
      document.querySelector<HTMLElement>("[data-testid=composer]")?.focus();
      return true;
    default:
      return false;
  }
}
