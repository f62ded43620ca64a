import type { AppEvent } from "../bridge/bindings";
import { shell } from "../bridge/bridge";
import { settingsQueue } from "../bridge/serialQueue";
import { saveTyped } from "../frame/typedText";
import { followLanguage } from "../language/load";
import { loadLibrary } from "../models/actions";
import { dispatch, setView } from "../state/store";
import { attempt, syncDefaults, syncPreferences } from "./actions";

function onAppEvent(event: AppEvent): void {
  if (event.type === "preferences") {
    syncPreferences(event.preferences);
    followLanguage(() => Promise.all([saveTyped(), settingsQueue.settled()]));
  } else if (event.type === "settings") syncDefaults(event.settings);
  else dispatch({ kind: "app", event });
}

/** Shows the settings that the shell knows and follows their changes. */
export async function startSettings(): Promise<void> {
  await attempt(async () => dispatch({ kind: "snapshot", snapshot: await shell.watch(onAppEvent) }));
  setView({ opened: true });
  loadLibrary();
}
