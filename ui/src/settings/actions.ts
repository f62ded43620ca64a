import { showError } from "../actions";
import type { GenerationSettings, PlaceKind, Preferences } from "../bindings";
import { ZOOMS } from "../bindings";
import { reportOf, shell } from "../bridge";
import { about, openModels } from "../library/actions";
import { dispatch, setView, useStore } from "../store";
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

/** Changes of the preferences that the shell has not answered yet, oldest first: each is sent after the one before. */
const changes: Partial<Preferences>[] = [];
let changed: Promise<void> = Promise.resolve();
/** The preferences as the shell has kept them, while there are changes. */
let kept: Preferences;

/** Changes how the app looks and behaves. It shows at once, and goes back if the shell refuses it. */
export function changePreferences(change: Partial<Preferences>): Promise<void> {
  if (changes.length === 0) kept = state().preferences;
  changes.push(change);
  showPreferences();
  changed = changed.then(async () => {
    const preferences = { ...kept, ...change };
    if (await attempt(() => shell.setPreferences(preferences))) kept = preferences;
    changes.shift();
    showPreferences();
  });
  return changed;
}

/** Whether what the shell says of the preferences may be older than what is shown. */
export const arePreferencesChanging = (): boolean => changes.length > 0;

function showPreferences(): void {
  const preferences = Object.assign({}, kept, ...changes);
  dispatch({ kind: "app", event: { type: "preferences", preferences } });
}

/** Makes everything in the window larger or smaller by so many steps; 0 gives it its usual size. */
export function changeZoom(steps: number): void {
  const zooms: readonly number[] = ZOOMS;
  const at = zooms.indexOf(state().preferences.zoom) + steps;
  const zoom = steps === 0 ? 100 : zooms[Math.min(Math.max(at, 0), zooms.length - 1)];
  if (zoom !== undefined) changePreferences({ zoom });
}

/** Changes how replies are written in chats without settings of their own. It shows at once, and goes back if refused. */
export async function changeDefaults(change: Partial<GenerationSettings>): Promise<void> {
  const before = state().settings;
  const settings = { ...before, ...change };
  dispatch({ kind: "settings", settings });
  const kept = await attempt(() => shell.setSettings(settings));
  if (!kept && state().settings === settings) dispatch({ kind: "settings", settings: before });
}

/** Shows where some of the app's files are. */
export const revealPlace = (kind: PlaceKind) => attempt(() => shell.revealPlace(kind));
