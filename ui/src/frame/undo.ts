import { setView, useStore } from "../state/store";
import { attempt } from "./errors";

const state = () => useStore.getState();

/** Undoes what was done last, once. What that replaces may be a note of its own. */
export async function undo(): Promise<void> {
  const { note } = state();
  const back = note?.undo;
  if (!back) return;
  setView({ note: null });
  let undone: unknown = false;
  await attempt(async () => {
    undone = await back();
  });
  if (undone === false && state().note === null) setView({ note });
}
