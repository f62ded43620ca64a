import type { Attachment, MessagePicture } from "../bridge/bindings";
import { t } from "../language/text";
import { ActionButton } from "../primitives/ActionButton";
import { Icon } from "../primitives/icons";
import { useAnswerReason, useStore } from "../state/store";
import { focusComposer } from "./focus";
import { sendNext, takeBack, unqueue } from "./queue";

/** The messages of the open chat that wait for a reply to end, the next one first, or why they are not sent. */
export function WaitingMessages({ chat }: { chat: number }) {
  const queued = useStore((state) => state.queued[chat]);
  const held = useStore((state) => state.held[chat]);
  const reason = useAnswerReason();
  if (!queued || queued.length === 0) return null;
  return (
    <section className="waiting" aria-label={t("reply-waiting")} data-testid="waiting">
      <div className="context-note model-note">
        <span className="model-note-words" role="status">
          {held === undefined ? t("reply-waiting.until") : t("reply-waiting.held", { why: held })}
        </span>
        {held !== undefined && (
          <ActionButton
            className="quiet-button"
            data-testid="send-waiting"
            reason={reason}
            onClick={() => sendNext(chat)}
          >
            {t("reply-waiting.send")}
          </ActionButton>
        )}
      </div>
      <ul>
        {queued.map(({ id, text, files, pictures }) => (
          <li key={id} data-testid="waiting-message">
            <span className="waiting-words">{text.trim() || withLabel(files, pictures)}</span>
            <button
              type="button"
              className="quiet-button"
              data-testid="edit-waiting"
              onClick={() => {
                takeBack(id);
                focusComposer();
              }}
            >
              {t("reply-waiting.edit")}
            </button>
            <button
              type="button"
              className="icon-button"
              aria-label={t("reply-waiting.drop")}
              title={t("reply-waiting.drop")}
              data-testid="drop-waiting"
              onClick={() => {
                unqueue(chat, id);
                focusComposer();
              }}
            >
              <Icon name="close" />
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** What a message without words is made of. */
function withLabel(files: Attachment[], pictures: MessagePicture[]): string {
  const all = files.length + pictures.length;
  return all === 1 ? ([...files, ...pictures][0]?.name ?? "") : t("reply-waiting.files", { count: all });
}
