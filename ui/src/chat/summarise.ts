import type { SummaryProgress } from "../bridge/bindings";
import { shell } from "../bridge/bridge";
import { chatQueue, settingsQueue } from "../bridge/serialQueue";
import { showError } from "../frame/errors";
import { t } from "../language/text";
import { setView, useStore } from "../state/store";
import { carryDraft } from "./drafts";
import { openChat } from "./navigation";

const state = () => useStore.getState();

/** Takes note of how far the summary of a chat is; null where there is none any more. */
function tell(chat: number, progress: SummaryProgress | null): void {
  const { [chat]: _, ...others } = state().summaries;
  setView({ summaries: progress === null ? others : { ...others, [chat]: progress } });
}

/**
 * Has the older part of a chat summarised, and goes on in the new chat that begins with the summary. Whoever has gone
 * elsewhere meanwhile stays there.
 */
export async function summarise(chat: number): Promise<void> {
  if (state().summaries[chat]) return;
  setView({ actionError: null });
  tell(chat, { done: 0, of: 0 });
  let ended = false;
  try {
    // It goes by what was changed before.
    await Promise.all([chatQueue.settled(), settingsQueue.settled()]);
    const begun = await shell.summarise(chat, (progress) => ended || tell(chat, progress));
    ended = true;
    tell(chat, null);
    if (begun === null) return;
    if (state().screen === "chat" && state().chat === chat) {
      carryDraft(chat, begun);
      await openChat(begun);
    } else setView({ note: { text: t("reply-summarise.done"), undo: null } });
  } catch (error) {
    ended = true;
    tell(chat, null);
    showError(error, chat);
  }
}

export const stopSummary = (chat: number) => shell.stopSummary(chat).catch(showError);

/** Stops a summary that this page has not begun. */
export async function stopUnseenSummary(chat: number): Promise<void> {
  setView({ actionError: null });
  await stopSummary(chat);
}
