import { memo } from "react";
import type { Message } from "../bridge/bindings";
import { t } from "../language/text";
import { formatted } from "../paper/copying";
import { ActionButton } from "../primitives/ActionButton";
import { CopyButton } from "../primitives/CopyButton";
import { RevealedText } from "../reveal/RevealedText";
import { setView, useStore, useWritingReason } from "../state/store";
import { openChat } from "./navigation";
import { ReplyForm } from "./ReplyForm";
import { Versions } from "./Versions";
import { isChanged, summaryName } from "./view";

/** What a model has written of the older part of a chat, in place of which it stands. */
export const Summary = memo(function Summary({ message }: { message: Message }) {
  const { id, text, model, edited } = message;
  const origin = useStore((state) => state.about?.origin ?? null);
  const editing = useStore((state) => state.editing === id);
  const writing = useWritingReason();
  const unsent = useStore(({ edits }) => isChanged(edits[id], text));
  return (
    <article className="chat-summary" data-testid="summary" data-message={id} aria-label={summaryName()}>
      <header className="chat-summary-head">
        <h2>{summaryName()}</h2>
        {origin && (
          <button
            type="button"
            className="quiet-button"
            data-testid="summary-origin"
            onClick={() => openChat(origin.chat)}
          >
            {t("reply-summary.whole")}
          </button>
        )}
      </header>
      {editing ? (
        <ReplyForm message={message} />
      ) : (
        <>
          <div className="answer">
            <RevealedText text={text} complete runs={null} />
          </div>
          <div className="reply-foot">
            <span className="ending">{t("reply-summary.by", { model: model ?? "" })}</span>
            <div className="foot-end">
              {edited && <span className="ending">{t("reply-edited")}</span>}
              <Versions message={message} />
              <span className="message-actions">
                <CopyButton text={() => formatted(id, text)} label={t("reply-copy")} testId="copy-summary" />
                <ActionButton
                  className={unsent ? "quiet-button unsent" : "quiet-button"}
                  data-testid="edit-summary"
                  reason={writing}
                  onClick={() => setView({ editing: id })}
                >
                  {t(unsent ? "reply-edit.continue" : "reply-edit")}
                </ActionButton>
              </span>
            </div>
          </div>
        </>
      )}
    </article>
  );
});
