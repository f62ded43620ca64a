import { memo } from "react";
import type { Message } from "../bridge/bindings";
import { formatted } from "../paper/copying";
import { ActionButton } from "../primitives/ActionButton";
import { CopyButton } from "../primitives/CopyButton";
import { RevealedText } from "../reveal/RevealedText";
import { setView, useStore, useWritingReason } from "../state/store";
import { openChat } from "./navigation";
import { ReplyForm } from "./ReplyForm";
import { Versions } from "./Versions";
import { isChanged, SUMMARY_NAME } from "./view";

/** What a model has written of the older part of a chat, in place of which it stands. */
export const Summary = memo(function Summary({ message }: { message: Message }) {
  const { id, text, model, edited } = message;
  const origin = useStore((state) => state.about?.origin ?? null);
  const editing = useStore((state) => state.editing === id);
  const writing = useWritingReason();
  const unsent = useStore(({ edits }) => isChanged(edits[id], text));
  return (
    <article className="chat-summary" data-testid="summary" data-message={id} aria-label={SUMMARY_NAME}>
      <header className="chat-summary-head">
        <h2>{SUMMARY_NAME}</h2>
        {origin && (
          <button
            type="button"
            className="quiet-button"
            data-testid="summary-origin"
            onClick={() => openChat(origin.chat)}
          >
            Show the whole chat
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
            <span className="ending">Written by {model}</span>
            <div className="foot-end">
              {edited && <span className="ending">Edited</span>}
              <Versions message={message} />
              <span className="message-actions">
                <CopyButton text={() => formatted(id, text)} label="Copy" testId="copy-summary" />
                <ActionButton
                  className={unsent ? "quiet-button unsent" : "quiet-button"}
                  data-testid="edit-summary"
                  reason={writing}
                  onClick={() => setView({ editing: id })}
                >
                  {unsent ? "Continue editing" : "Edit"}
                </ActionButton>
              </span>
            </div>
          </div>
        </>
      )}
    </article>
  );
});
