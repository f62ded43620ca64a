import type { ErrorReport } from "../bridge/bindings";
import { reportOf } from "../bridge/bridge";
import { told } from "../language/told";
import { sentences } from "../primitives/format";
import { setView, useStore } from "../state/store";

const state = () => useStore.getState();

/** Says why something failed: in the chat that it was about where that is shown, or else in a note. */
export function showError(error: unknown, chat = state().chat): void {
  if (state().screen === "chat" && state().chat === chat) setView({ actionError: reportOf(error) });
  else noteError(error);
}

/** Says why something failed that has nothing to do with what is shown. */
export const noteError = (error: unknown): void => noteReport(reportOf(error));

export function noteReport(report: ErrorReport): void {
  const { message, hint, details } = told(report);
  setView({ note: { text: sentences(message, hint, details), undo: null } });
}

/** Does something; if it fails, the chat says why. */
export async function attempt(act: () => Promise<unknown>): Promise<boolean> {
  try {
    await act();
    return true;
  } catch (error) {
    showError(error);
    return false;
  }
}
