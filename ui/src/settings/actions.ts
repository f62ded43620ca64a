import type { ActionId, GenerationSettings, PlaceKind, Preferences, SettingsPage } from "../bridge/bindings";
import { DEFAULT_PREFERENCES, ZOOMS } from "../bridge/bindings";
import { reportOf, shell } from "../bridge/bridge";
import { Optimistic } from "../bridge/optimistic";
import { settingsQueue } from "../bridge/serialQueue";
import { showError } from "../frame/errors";
import { dispatch, setView, useStore } from "../state/store";

const state = () => useStore.getState();

/** Does something; if it fails, the page of the settings or the chat says why. */
export async function attempt(act: () => Promise<unknown>): Promise<boolean> {
  setView({ settingsError: null });
  try {
    await act();
    return true;
  } catch (error) {
    setView({ settingsError: reportOf(error) });
    showError(error);
    return false;
  }
}

/** Opens the window of the settings, at a page or where it was last. */
export const openSettings = (page: SettingsPage | null = null) => attempt(() => shell.openSettings(page));

/** Asks where the app keeps its files. */
export const loadPlaces = () => attempt(async () => setView({ places: await shell.places() }));

/** Does something in the window with the chats. */
export const actInChats = (action: ActionId) => attempt(() => shell.act(action));

const preferences = new Optimistic<Preferences>({
  queue: settingsQueue,
  get: () => state().preferences,
  set: (preferences) => dispatch({ kind: "app", event: { type: "preferences", preferences } }),
  send: (_, preferences) => shell.setPreferences(preferences),
});

const defaults = new Optimistic<GenerationSettings>({
  queue: settingsQueue,
  get: () => state().settings,
  set: (settings) => dispatch({ kind: "settings", settings }),
  send: (change) => shell.setSettings(change),
});

/** Changes how the app looks and behaves. */
export async function changePreferences(change: Partial<Preferences>): Promise<boolean> {
  return attempt(() => preferences.change(change));
}

/** Takes over what the shell says of how the app looks and behaves. */
export const syncPreferences = (value: Preferences): void => preferences.sync(value);

/** Makes everything in the window larger or smaller by so many steps; 0 gives it its usual size. */
export function changeZoom(steps: number): void {
  const zooms: readonly number[] = ZOOMS;
  const at = zooms.indexOf(state().preferences.zoom) + steps;
  const zoom = steps === 0 ? DEFAULT_PREFERENCES.zoom : zooms[Math.min(Math.max(at, 0), zooms.length - 1)];
  if (zoom !== undefined) changePreferences({ zoom });
}

/** Changes how replies are written in chats without settings of their own. */
export async function changeDefaults(change: Partial<GenerationSettings>): Promise<void> {
  await attempt(() => defaults.change(change));
}

/** Takes over what the shell says of them, as when a model brings its own. */
export const syncDefaults = (value: GenerationSettings): void => defaults.sync(value);

/** Shows where some of the app's files are. */
export const revealPlace = (kind: PlaceKind) => attempt(() => shell.revealPlace(kind));

/** Shows the system's reports of crashes. */
export const revealCrashReports = () => attempt(() => shell.revealCrashReports());

/** Shows the list of all that the app is made of. */
export const revealBillOfMaterials = () => attempt(() => shell.revealBillOfMaterials());
