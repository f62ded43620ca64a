import { SignedNote } from "../frame/SignedNote";
import { t } from "../language/text";
import { ActionButton } from "../primitives/ActionButton";
import { useAnswerReason, useStore } from "../state/store";
import { stopSummary, summarise } from "./summarise";
import { isTemporary } from "./view";

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
      title={t(isTemporary(chat) ? "reply-summarise.title-temporary" : "reply-summarise.title")}
      reason={cannotAnswer ?? (running ? t("reply-summarise.running") : null)}
      onClick={() => summarise(chat)}
    >
      {t("reply-summarise")}
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
      message={of > 1 ? t("reply-summarising.part", { part: done + 1, of }) : t("reply-summarising")}
      hint={t(isTemporary(chat) ? "reply-summarising.hint-temporary" : "reply-summarising.hint")}
      actions={
        <button type="button" className="button" data-testid="stop-summary" onClick={() => stopSummary(chat)}>
          {t("reply-summarising.stop")}
        </button>
      }
    />
  );
}
