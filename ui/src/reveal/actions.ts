import { shell } from "../bridge/bridge";
import { settingsQueue } from "../bridge/serialQueue";
import { showError } from "../frame/errors";
import { dispatch, useStore } from "../state/store";

/** Marks text that came from drafts, or no longer. */
export async function toggleRevealDrafts(): Promise<void> {
  const reveal = !useStore.getState().revealDrafts;
  dispatch({ kind: "reveal drafts", reveal });
  // It holds even where it cannot be written.
  await settingsQueue.run(() => shell.setRevealDrafts(reveal)).catch(showError);
}
