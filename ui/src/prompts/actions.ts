import type { Prompt } from "../bridge/bindings";
import { shell } from "../bridge/bridge";
import { setDraftOf } from "../chat/drafts";
import { draftKey } from "../chat/view";
import { showError } from "../frame/errors";
import { attempt } from "../settings/actions";
import { setView, useStore } from "../state/store";
import { askedFor, CLIPBOARD, filledIn, nextPlace, variablesOf } from "./text";

const state = () => useStore.getState();

/** The field of the composer, which is there while the chat is shown. */
const field = () => document.querySelector<HTMLTextAreaElement>("[data-testid=composer]");

/** Which prompt was chosen last: one that waits for the clipboard or for a server gives way to it. */
let chosen = 0;

/** Chooses a prompt. What this returns says whether no other was chosen since. */
export function choosePrompt(): () => boolean {
  chosen += 1;
  const mine = chosen;
  return () => mine === chosen;
}

/**
 * Puts a prompt into the message: where `found`, in the place of what was typed for that, else after what is there.
 * What is on the clipboard stands in it by then, if it asks for that.
 */
export async function insertPrompt(prompt: Prompt, found = false): Promise<void> {
  const isLast = choosePrompt();
  const { chat } = state();
  const all = variablesOf(prompt.text);
  const copied = all.includes(CLIPBOARD) ? await copiedText() : null;
  if (!isLast() || state().chat !== chat) return;
  const text = copied === null ? prompt.text : filledIn(prompt.text, CLIPBOARD, copied);
  const names = copied === null ? all : all.filter((name) => name !== CLIPBOARD);
  setView({ screen: "chat", filling: { chat, names } });
  const before = putText(text, chat, found);
  // The field has the text once it is drawn.
  requestAnimationFrame(() => {
    field()?.focus();
    if (!selectNext(before.length)) field()?.setSelectionRange(-1, -1);
  });
}

/**
 * Puts a text into the message of a chat: where `found`, in the place of what was typed for that, else after what is
 * there. Returns what stands before it.
 */
export function putText(text: string, chat: number | null, found: boolean): string {
  const typed = state().drafts[draftKey(chat)] ?? "";
  const before = !(found && askedFor(typed) !== null) && typed.trim() !== "" ? `${typed.trimEnd()}\n\n` : "";
  setDraftOf(chat, before + text);
  return before;
}

/** The text on the clipboard; null where there is none, or where it cannot be read, which is said. */
async function copiedText(): Promise<string | null> {
  try {
    return await shell.clipboardText();
  } catch (error) {
    showError(error);
    return null;
  }
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
