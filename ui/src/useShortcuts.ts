import { useEffect } from "react";
import { newChat, stop, toggleNumbers, toggleRevealDrafts } from "./actions";
import { focusComposer } from "./focus";
import { MAC } from "./platform";
import { setView, useStore } from "./store";

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
  const { screen, sidebar } = useStore.getState();
  if (key === "escape") {
    if (document.querySelector(".popover, .sheet") !== null) return false;
    // What is being edited gives up its change.
    if (event.target instanceof HTMLElement && "escape" in event.target.dataset) return false;
    return screen === "chat" ? stop() : leave(event.target);
  }
  if (MAC ? event.metaKey && event.ctrlKey && key === "s" : event.ctrlKey && !event.shiftKey && key === "b") {
    setView({ sidebar: !sidebar });
    return true;
  }
  // By its place too: with Option the key writes another letter.
  if (command && event.altKey && !event.shiftKey && (key === "d" || event.code === "KeyD")) {
    toggleRevealDrafts();
    return true;
  }
  if (!command || event.shiftKey || event.altKey) return false;
  switch (key) {
    case ".":
      return screen === "chat" && stop();
    case "i":
      return screen === "chat" && toggleNumbers();
    case "n":
      newChat();
      return true;
    case "f":
      setView({ sidebar: true });
      // The field is there once the sidebar is.
      requestAnimationFrame(() =>
        document.querySelector<HTMLInputElement>("[data-testid=chat-search]")?.select(),
      );
      return true;
    case "l":
      // In the chat that opens, the field takes the focus by itself.
      setView({ screen: "chat" });
      focusComposer();
      return true;
    default:
      return false;
  }
}

/** Goes back to the chat. A field that has something in it is emptied first, by itself. */
function leave(target: EventTarget | null): boolean {
  if (target instanceof HTMLInputElement && target.value !== "" && target.type === "search") return false;
  setView({ screen: "chat" });
  return true;
}
