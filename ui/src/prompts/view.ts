/** A draft that a prompt was put into, and what of it is still to be filled in. */
export interface Filling {
  chat: number | null;
  names: string[];
}

/** What only the page knows of prompts. */
export interface PromptsView {
  filling: Filling | null;
  /** The text for which the list of prompts was put away; null where it was not. */
  promptsLeft: string | null;
}

/** As the window opens. */
export const PROMPTS_VIEW: PromptsView = { filling: null, promptsLeft: null };
