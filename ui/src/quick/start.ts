import type { AppEvent } from "../bridge/bindings";
import { shell } from "../bridge/bridge";
import { showError } from "../frame/errors";
import { saveTyped } from "../frame/typedText";
import { followLanguage } from "../language/load";
import { syncDefaults, syncPreferences } from "../settings/actions";
import { dispatch, setView } from "../state/store";
import { onShown } from "./actions";

/** Since when the panel is out of sight, as `performance.now` has it. */
let hidden = performance.now();

function onAppEvent(event: AppEvent): void {
  if (event.type === "quick_shown") onShown(event.open, performance.now() - hidden);
  else if (event.type === "preferences") {
    syncPreferences(event.preferences);
    followLanguage(saveTyped);
  } else if (event.type === "settings") syncDefaults(event.settings);
  else dispatch({ kind: "app", event });
}

/** Shows what the shell knows, but for the chat of the main window, and follows its changes. */
export async function startQuick(): Promise<void> {
  window.addEventListener("blur", () => {
    hidden = performance.now();
  });
  try {
    const snapshot = await shell.watch(onAppEvent);
    dispatch({ kind: "snapshot", snapshot: { ...snapshot, open: null } });
  } catch (error) {
    showError(error);
  }
  setView({ opened: true });
}
