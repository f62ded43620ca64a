/** Something that is read aloud. */
export interface Reading {
  /** The reply; null for what is selected. */
  message: number | null;
  sentences: string[];
  /** The sentence that is read. */
  at: number;
  paused: boolean;
}

/** What only the page knows of reading aloud. */
export interface AloudView {
  /** Whether this machine has a voice that needs no network. */
  hasVoice: boolean;
  reading: Reading | null;
}

/** As the window opens. */
export const ALOUD_VIEW: AloudView = { hasVoice: false, reading: null };
