import type { GenerationSettings, PlaceKind, Preferences } from "../bridge/bindings";
import { DEFAULT_PREFERENCES, ZOOMS } from "../bridge/bindings";
import { reportOf, shell } from "../bridge/bridge";
import { Optimistic } from "../bridge/optimistic";
import { settingsQueue } from "../bridge/serialQueue";
import { showError } from "../frame/errors";
import { about, openModels } from "../models/actions";
import { dispatch, setView, useStore } from "../state/store";
import type { SectionId } from "./sections";

const state = () => useStore.getState();

/** Does something; if it fails, whatever screen is shown says why. */
async function attempt(act: () => Promise<unknown>): Promise<boolean> {
  setView({ settingsError: null });
  try {
    await act();
    return true;
  } catch (error) {
    const { screen } = state();
    if (screen === "settings" || screen === "diagnostics") setView({ settingsError: reportOf(error) });
    else showError(error);
    return false;
  }
}

/** Opens the settings, at one of their parts. */
export function openSettings(section: SectionId | null = null): void {
  setView({ screen: "settings", section, settingsError: null });
  if (state().places === null) attempt(async () => setView({ places: await shell.places() }));
}

/** Opens the screen that tells what the app is doing. */
export function openDiagnostics(): void {
  setView({ screen: "diagnostics", settingsError: null });
}

/** Opens the list of what others have made and the app carries. */
export function openNotices(): void {
  setView({ screen: "notices", settingsError: null });
}

/** Opens the place where the token for the Hub is set. */
export function openToken(): void {
  setView({ spotlight: about.token });
  openModels();
}

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
export async function changePreferences(change: Partial<Preferences>): Promise<void> {
  await attempt(() => preferences.change(change));
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
