import type { AppEvent, LibrarySnapshot, SettingsPage, Snapshot } from "../src/bridge/bindings";
import type { Answers } from "./shell";

/** What is drawn: what the shell knows, and what a person then does. */
export interface State {
  /** The name of its pictures. */
  name: string;
  /** The page of the settings, where it is in their window. */
  settings?: SettingsPage;
  /** Whether it is in the quick panel. */
  quick?: true;
  /** Whether it is in a window that shows one chat alone. */
  alone?: true;
  /** What the shell knows, where that is not what all pictures share. */
  snapshot?: Partial<Snapshot>;
  /** The same for the library of models. */
  library?: Partial<LibrarySnapshot>;
  /** Answers of its own. */
  answers?: Answers;
  /** What is done before the picture. */
  act?: (shell: { tell(event: AppEvent): void }) => Promise<void> | void;
}
