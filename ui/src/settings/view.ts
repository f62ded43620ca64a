import type { ErrorReport, Place } from "../bridge/bindings";
import type { SectionId } from "./sections";

/** What only the page knows of the settings. */
export interface SettingsView {
  /** The part of the settings that comes into view next. */
  section: SectionId | null;
  /** Where the app keeps its files; null until asked for. */
  places: Place[] | null;
  /** Why the last change of the settings failed. */
  settingsError: ErrorReport | null;
}

/** As the window opens. */
export const SETTINGS_VIEW: SettingsView = {
  section: null,
  places: null,
  settingsError: null,
};
