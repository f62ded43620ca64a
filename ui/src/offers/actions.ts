import type { FilledPrompt } from "../bridge/bindings";
import { shell } from "../bridge/bridge";
import { putAttached, whilePending } from "../chat/attaching";
import { focusComposer } from "../chat/focus";
import { beginning, type Filled } from "../chat/serverForm";
import { draftKey } from "../chat/view";
import { visible } from "../chat/visible";
import { showError } from "../frame/errors";
import { choosePrompt, putText } from "../prompts/actions";
import { setView, useStore } from "../state/store";
import type { OfferedPrompt } from "./offers";
import { fieldsOf, givenIn } from "./promptFields";
import type { PromptCard } from "./view";

const state = () => useStore.getState();

/** Takes a prompt of a server for the message: at once, or when the person has filled in what belongs to it. */
export function takePrompt({ server, prompt }: OfferedPrompt): void {
  const { chat, drafts } = state();
  const typed = drafts[draftKey(chat)] ?? "";
  // What was typed for it stays until the text comes.
  setView({ promptsLeft: typed });
  if (prompt.arguments.length === 0) {
    fetchPrompt(server, prompt.name, prompt.title, typed);
    return;
  }
  choosePrompt();
  lastCard += 1;
  const form = beginning(fieldsOf(prompt));
  setView({ promptCard: { id: lastCard, chat, server, prompt, typed, form, sent: false } });
}

/** Has a server give a prompt that nothing is filled into. */
async function fetchPrompt(server: string, name: string, title: string, typed: string): Promise<void> {
  const isLast = choosePrompt();
  await whilePending(
    async (begin, chat) => {
      begin([visible(title)]);
      try {
        return await shell.fillServerPrompt(chat, server, name, {});
      } catch (error) {
        // It can be chosen once more.
        setView({ promptsLeft: null });
        throw error;
      }
    },
    (filled, chat) => {
      if (isLast()) putFilled(filled, chat, typed);
    },
  );
}

let lastCard = 0;

/** The card as it is now; null where it was put away or has given way to another. */
function cardOf(id: number): PromptCard | null {
  const { promptCard } = state();
  return promptCard?.id === id ? promptCard : null;
}

function changeCard(id: number, change: Partial<PromptCard>): void {
  const card = cardOf(id);
  if (card) setView({ promptCard: { ...card, ...change } });
}

/** Fills in a field of the card. */
export function fillIn({ id, form }: PromptCard, name: string, filled: Filled): void {
  changeCard(id, { form: new Map(form).set(name, filled) });
}

/** Has the server fill in the card's prompt, and puts that into the message. */
export async function insertCard({ id, chat, server, prompt, form }: PromptCard): Promise<void> {
  changeCard(id, { sent: true });
  try {
    const filled = await shell.fillServerPrompt(chat, server, prompt.name, givenIn(prompt, form));
    const card = cardOf(id);
    if (!card) return;
    putFilled(filled, card.chat, card.typed);
    setView({ promptCard: null });
  } catch (error) {
    const card = cardOf(id);
    changeCard(id, { sent: false });
    if (card) showError(error, card.chat);
  }
}

/** Puts the card away; what the server says of it later is put nowhere. */
export function putCardAway(): void {
  setView({ promptCard: null });
  focusComposer();
}

/**
 * Puts what a server has filled in into the message of a chat, in the place of what was typed for it, or after it if
 * that was written on. Nothing in it is to be filled in by the person.
 */
function putFilled({ text, attached }: FilledPrompt, chat: number | null, typed: string): void {
  putAttached(attached, chat);
  putText(text, chat, (state().drafts[draftKey(chat)] ?? "") === typed);
  const { filling } = state();
  if (filling?.chat === chat) setView({ filling: null });
  if (state().chat === chat && state().screen === "chat") writeOn();
}

/** Lets the person write behind the text once it is drawn, unless they do something elsewhere. */
function writeOn(): void {
  requestAnimationFrame(() => {
    const focus = document.activeElement;
    if (focus !== document.body && !focus?.matches("[data-testid=composer], .prompt-card *")) return;
    focusComposer();
    document.querySelector<HTMLTextAreaElement>("[data-testid=composer]")?.setSelectionRange(-1, -1);
  });
}
