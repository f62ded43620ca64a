/** A match in the open chat: the one with number `nth`, from 0, in a message, or in what was thought before it. */
export interface Match {
  message: number;
  thought: boolean;
  nth: number;
}

/** What is looked for in a chat. */
export interface Find {
  chat: number;
  query: string;
  /** The match that one is at. */
  current: Match;
  /** Whether the person says what in the chat itself; a search of all chats has led here otherwise. */
  field: boolean;
}

/** What only the page knows of what is looked for in the open chat. */
export interface FindView {
  find: Find | null;
}

/** As the window opens. */
export const FIND_VIEW: FindView = { find: null };
