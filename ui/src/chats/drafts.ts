import type { Attachment, Draft } from "../bindings";
import { reportOf, shell } from "../bridge";
import { draftKey, setView, useStore } from "../store";

/** What is typed is kept so many milliseconds later at most. */
const BEHIND = 400;

const waiting = new Map<number | null, string>();
let timer: ReturnType<typeof setTimeout> | undefined;
let saving: Promise<unknown> = Promise.resolve();

/** Changes what is typed and not sent in the open chat. */
export function setDraft(text: string): void {
  const { chat } = useStore.getState();
  change(chat, text);
  timer ??= setTimeout(saveDrafts, BEHIND);
}

/** Gives up a draft that was sent, unless the person has typed on. */
export function dropDraft(chat: number | null, sent: string): void {
  if (useStore.getState().drafts[draftKey(chat)] !== sent) return;
  change(chat, "");
  saveDrafts();
}

/** Shows the draft that the shell has kept. What this page knows of is newer. */
export function takeDraft(chat: number | null, { text, files }: Draft): void {
  const { drafts, attached } = useStore.getState();
  const key = draftKey(chat);
  if (!(key in drafts)) setView({ drafts: { ...drafts, [key]: text } });
  if (!(key in attached)) setView({ attached: { ...attached, [key]: files } });
}

/** Changes the files that are to go with what is typed. */
export function setFiles(chat: number | null, change: (files: Attachment[]) => Attachment[]): void {
  const { attached } = useStore.getState();
  const key = draftKey(chat);
  const files = change(attached[key] ?? []);
  setView({ attached: { ...attached, [key]: files } });
  keep(() => shell.setDraftFiles(chat, files));
}

/** Lets the shell keep what was typed, in the order in which it was. */
export function saveDrafts(): void {
  clearTimeout(timer);
  timer = undefined;
  for (const [chat, text] of waiting) keep(() => shell.setDraftText(chat, text));
  waiting.clear();
}

function keep(save: () => Promise<unknown>): void {
  // A chat may have been deleted in the meantime; then there is nothing to keep.
  saving = saving.then(save).catch((error) => console.warn(reportOf(error)));
}

function change(chat: number | null, text: string): void {
  const { drafts } = useStore.getState();
  waiting.set(chat, text);
  setView({ drafts: { ...drafts, [draftKey(chat)]: text } });
}
