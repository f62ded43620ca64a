import type { ExportFormat, SearchFilter, SearchResults } from "../bridge/bindings";

/** What a search has found, and for what. */
export interface Hits extends SearchResults {
  query: string;
  filter: SearchFilter;
}

/** What a chat becomes in a file: an HTML file is made by the page, which knows how a chat looks. */
export type FileFormat = ExportFormat | "html";

/** A chat, or all where there is none, on its way into a file. */
export interface Export {
  chat: number | null;
  format: FileFormat;
  /** What its pictures take, in bytes. */
  pictureBytes: number;
}

/** A chat that is being dragged. */
export interface DraggedChat {
  id: number;
  /** Where the mouse is, in pixels of the window. */
  at: { x: number; y: number };
  /** Where it would go: into a project, or out of the one that it is in; null where it would stay. */
  to: { project: number | null } | null;
}

/** What only the page knows of the list of chats. */
export interface ChatListView {
  /** The chat that is being renamed in the list. */
  renaming: number | null;
  /** The chat whose tags are being chosen. */
  tagging: number | null;
  /** The chat that is being dragged in the list. */
  dragged: DraggedChat | null;
  /** An export that waits for what becomes of its pictures. */
  exporting: Export | null;
  /** What the chats are searched for; empty while the list is shown. */
  query: string;
  /** Which of the places are shown that a search of the chats finds. */
  searchFilter: SearchFilter;
  /** What the last search of the chats found. */
  hits: Hits | null;
}

/** As the window opens. */
export const CHAT_LIST_VIEW: ChatListView = {
  renaming: null,
  tagging: null,
  dragged: null,
  exporting: null,
  query: "",
  searchFilter: { kind: "all" },
  hits: null,
};
