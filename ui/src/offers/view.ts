import type { ErrorReport, ServerOffers, ServerPrompt } from "../bridge/bindings";
import type { FilledForm } from "../chat/serverForm";

/** A prompt of a server that the person fills in. */
export interface PromptCard {
  id: number;
  /** The chat of the message; null is a new one. */
  chat: number | null;
  /** The server. */
  server: string;
  prompt: ServerPrompt;
  /** What was typed for it. */
  typed: string;
  /** What is filled in so far. */
  form: FilledForm;
  /** Whether the server has it now. */
  sent: boolean;
}

/** What only the page knows of what servers have for the person. */
export interface OffersView {
  /** What they have told last. */
  offers: ServerOffers[];
  /** How the servers were when they were asked last, and when they told; null while they have not. */
  offersAsked: { of: string; at: number | null } | null;
  /** Why they could not be asked. */
  offersError: ErrorReport | null;
  /** Whether the person chooses among what servers have to read. */
  choosingResource: boolean;
  promptCard: PromptCard | null;
}

/** As the window opens. */
export const OFFERS_VIEW: OffersView = {
  offers: [],
  offersAsked: null,
  offersError: null,
  choosingResource: false,
  promptCard: null,
};
