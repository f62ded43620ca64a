/** A match in the open chat: the one with number `nth`, from 0, in a message. */
export interface Match {
  message: number;
  nth: number;
}

/** What is looked for in a chat that a search of all chats has led to. */
export interface Find {
  chat: number;
  query: string;
  /** The match that one is at. */
  current: Match;
}

/** What only the page knows of what is looked for in the open chat. */
export interface FindView {
  find: Find | null;
}

/** As the window opens. */
export const FIND_VIEW: FindView = { find: null };
