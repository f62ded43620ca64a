import type { Prompt } from "../bridge/bindings";
import { shell } from "../bridge/bridge";
import { setDraft } from "../chat/drafts";
import { draftKey } from "../chat/view";
import { attempt } from "../settings/actions";
import { setView, useStore } from "../state/store";
import { askedFor, nextPlace, variablesOf } from "./text";

const state = () => useStore.getState();

/** The field of the composer, which is there while the chat is shown. */
const field = () => document.querySelector<HTMLTextAreaElement>("[data-testid=composer]");

/** Puts a prompt into the message: where `found`, in the place of what was typed for that, else after what is there. */
export function insertPrompt({ text }: Prompt, found = false): void {
  const { chat, drafts } = state();
  setView({ screen: "chat", filling: { chat, names: variablesOf(text) } });
  const typed = drafts[draftKey(chat)] ?? "";
  const before = !(found && askedFor(typed) !== null) && typed.trim() !== "" ? `${typed.trimEnd()}\n\n` : "";
  setDraft(before + text);
  // The field has the text once it is drawn.
  requestAnimationFrame(() => {
    field()?.focus();
    if (!selectNext(before.length)) field()?.setSelectionRange(-1, -1);
  });
}

/** Selects what is to be filled in next, from a place in the message on; says whether there is anything. */
export function selectNext(from: number): boolean {
  const { filling, chat } = state();
  const place = field();
  if (!place || filling === null || filling.chat !== chat) return false;
  const next = nextPlace(place.value, filling.names, from);
  if (next === null) setView({ filling: null });
  else place.setSelectionRange(next.from, next.to);
  return next !== null;
}

/** Keeps these prompts, in this order, and no others. */
export const setPrompts = (prompts: Prompt[]) => attempt(() => shell.setPrompts(prompts));

/** Adds the prompts of a file that the person chooses. */
export const importPrompts = () => attempt(() => shell.importPrompts());

/** Writes all prompts into a file that the person chooses. */
export const exportPrompts = () => attempt(() => shell.exportPrompts());
