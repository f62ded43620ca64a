import type { ErrorReport, Place } from "../bridge/bindings";

/** What only the page knows of the settings. */
export interface SettingsView {
  /** Where the app keeps its files; null until asked for. */
  places: Place[] | null;
  /** Why the last change of the settings failed. */
  settingsError: ErrorReport | null;
}

/** As the window opens. */
export const SETTINGS_VIEW: SettingsView = {
  places: null,
  settingsError: null,
};
