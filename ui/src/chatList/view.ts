import type { SearchResults } from "../bridge/bindings";

/** What only the page knows of the list of chats. */
export interface ChatListView {
  /** The chat that is being renamed in the list. */
  renaming: number | null;
  /** The chat whose tags are being chosen. */
  tagging: number | null;
  /** What the chats are searched for; empty while the list is shown. */
  query: string;
  /** What the last search of the chats found. */
  hits: SearchResults | null;
}

/** As the window opens. */
export const CHAT_LIST_VIEW: ChatListView = {
  renaming: null,
  tagging: null,
  query: "",
  hits: null,
};
