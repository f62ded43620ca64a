import { SignedNote } from "../frame/SignedNote";
import { ActionButton } from "../primitives/ActionButton";
import { useAnswerReason, useStore } from "../state/store";
import { stopSummary, summarise } from "./summarise";
import { isTemporary } from "./view";

/** What becomes of a chat that goes on in a new one. */
const fate = (chat: number) =>
  isTemporary(chat) ? "This one closes, as temporary chats do." : "This one stays as it is.";

/** Has the older part of the open chat summarised. */
export function SummariseButton({ primary = false }: { primary?: boolean }) {
  const chat = useStore((state) => state.chat);
  const running = useStore((state) => chat !== null && state.summaries[chat] !== undefined);
  const cannotAnswer = useAnswerReason();
  if (chat === null) return null;
  return (
    <ActionButton
      className={primary ? "button primary" : "button"}
      data-testid="summarise"
      title={`In a new chat. ${fate(chat)}`}
      reason={cannotAnswer ?? (running ? "The summary is being written." : null)}
      onClick={() => summarise(chat)}
    >
      Summarise the older part
    </ActionButton>
  );
}

/** Says how far the summary of the open chat is, while one is being written. */
export function SummaryNote() {
  const chat = useStore((state) => state.chat);
  const progress = useStore((state) => (chat === null ? undefined : state.summaries[chat]));
  if (chat === null || progress === undefined) return null;
  const { done, of } = progress;
  return (
    <SignedNote
      kind="busy"
      role="status"
      testId="summary-note"
      message={of > 1 ? `Summarising part ${done + 1} of ${of}` : "Summarising the older part"}
      hint={`The chat goes on in a new one, with the latest messages as they are. ${fate(chat)}`}
      actions={
        <button type="button" className="button" data-testid="stop-summary" onClick={() => stopSummary(chat)}>
          Stop
        </button>
      }
    />
  );
}
