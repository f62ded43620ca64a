import type { SummaryProgress } from "../bridge/bindings";
import { shell } from "../bridge/bridge";
import { chatQueue, settingsQueue } from "../bridge/serialQueue";
import { showError } from "../frame/errors";
import { t } from "../language/text";
import { dispatch, setView, useStore } from "../state/store";
import { carryDraft } from "./drafts";
import { openChat } from "./navigation";

const state = () => useStore.getState();

/** Takes note of how far the summary of a chat is before the shell tells it; null where there is none after all. */
const tell = (chat: number, progress: SummaryProgress | null): void =>
  dispatch({ kind: "app", event: { type: "summary", chat, progress } });

/** Has the older part of a chat summarised. The shell tells windows how far it is, and this one what comes of it. */
export async function summarise(chat: number): Promise<void> {
  if (state().summaries[chat]) return;
  setView({ actionError: null });
  tell(chat, { done: 0, of: 0 });
  try {
    // It goes by what was changed before.
    await Promise.all([chatQueue.settled(), settingsQueue.settled()]);
    await shell.summarise(chat);
  } catch (error) {
    tell(chat, null);
    showError(error, chat);
  }
}

/** Goes on in the new chat that begins with the summary. Whoever has gone elsewhere meanwhile stays there. */
export async function goOn(chat: number, begun: number): Promise<void> {
  if (state().screen === "chat" && state().chat === chat) {
    carryDraft(chat, begun);
    await openChat(begun);
  } else setView({ note: { text: t("reply-summarise.done"), undo: null } });
}

export const stopSummary = (chat: number) => shell.stopSummary(chat).catch(showError);
