import type { Snapshot } from "../bridge/bindings";
import { shell } from "../bridge/bridge";
import { attachReplies } from "../bridge/replyListeners";
import { mergeDraft, mergeEdits } from "../chat/drafts";
import { dispatch } from "../state/store";
import { showError } from "./errors";

/** Shows what the shell knows. */
export function applySnapshot(snapshot: Snapshot): void {
  dispatch({ kind: "snapshot", snapshot });
  mergeDraft(null, snapshot.draft);
  if (snapshot.open) {
    mergeDraft(snapshot.open.chat.id, snapshot.open.draft);
    mergeEdits(snapshot.open.edits);
    attachReplies(snapshot.open, showError);
  }
}

/** Shows what the shell knows, once more. */
export async function reloadSnapshot(): Promise<void> {
  applySnapshot(await shell.snapshot());
}
