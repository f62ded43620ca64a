/** What fills the window beside the sidebar. */
export type Screen = "chat" | "versions" | "models" | "benchmarks";

/** What was done, in a sentence. */
export interface NoteContent {
  text: string;
  /** What brings back what was there before; null where nothing can. `false`: it could not, and why is said. */
  undo: (() => Promise<unknown>) | null;
  /** The chat that it is about, with which it goes. */
  about?: number;
  /**
   * Where it was done to a chat that is not begun, the navigation that led there. The note goes when the chat begins.
   */
  unbegun?: number | null;
}

/** What only the page knows of its frame. */
export interface FrameView {
  /** Whether the first snapshot has come. */
  opened: boolean;
  /** The chat that this window shows alone; null in the main window. */
  alone: number | null;
  /** Whether the sidebar has its place in a window that is wide enough for it. */
  sidebar: boolean;
  /** Whether the window is too narrow for the sidebar beside the page. */
  narrow: boolean;
  /** Whether the sidebar lies over the page of a narrow window. */
  drawer: boolean;
  screen: Screen;
  /** What was done last, as far as it is to be said. */
  note: NoteContent | null;
  /** What the last action led to: its row comes into view and takes the focus. */
  spotlight: string | null;
}

/** As the window opens. */
export const FRAME_VIEW: FrameView = {
  opened: false,
  alone: null,
  sidebar: true,
  narrow: false,
  drawer: false,
  screen: "chat",
  note: null,
  spotlight: null,
};

/** Whether the sidebar is seen, in its place or over the page. */
export const sidebarShown = ({
  alone,
  sidebar,
  narrow,
  drawer,
}: Pick<FrameView, "alone" | "sidebar" | "narrow" | "drawer">) =>
  alone === null && (narrow ? drawer : sidebar);
