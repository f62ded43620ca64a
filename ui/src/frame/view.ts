/** What fills the window beside the sidebar. */
export type Screen = "chat" | "models" | "benchmarks";

/** What was done, in a sentence. */
export interface NoteContent {
  text: string;
  /** What brings back what was there before; null where nothing can. `false`: it could not, and why is said. */
  undo: (() => Promise<unknown>) | null;
  /**
   * Where it was done to a chat that is not begun, the navigation that led there. The note goes when the chat begins.
   */
  unbegun?: number | null;
}

/** What only the page knows of its frame. */
export interface FrameView {
  /** Whether the first snapshot has come. */
  opened: boolean;
  sidebar: boolean;
  screen: Screen;
  /** What was done last, as far as it is to be said. */
  note: NoteContent | null;
  /** Which lines are open that fold. */
  openFolds: string[];
  /** What the last action led to: its row comes into view and takes the focus. */
  spotlight: string | null;
}

/** As the window opens. */
export const FRAME_VIEW: FrameView = {
  opened: false,
  sidebar: true,
  screen: "chat",
  note: null,
  openFolds: [],
  spotlight: null,
};
