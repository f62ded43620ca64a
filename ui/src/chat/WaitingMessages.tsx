import type { Attachment, MessagePicture } from "../bridge/bindings";
import { ActionButton } from "../primitives/ActionButton";
import { count } from "../primitives/format";
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
    <section className="waiting" aria-label="Messages that wait" data-testid="waiting">
      <div className="context-note model-note">
        <span className="model-note-words" role="status">
          {held === undefined ? "Sent when the reply is finished:" : `${held} These are not sent yet:`}
        </span>
        {held !== undefined && (
          <ActionButton
            className="quiet-button"
            data-testid="send-waiting"
            reason={reason}
            onClick={() => sendNext(chat)}
          >
            Send now
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
              Edit
            </button>
            <button
              type="button"
              className="icon-button"
              aria-label="Do not send it"
              title="Do not send it"
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
  return all === 1 ? ([...files, ...pictures][0]?.name ?? "") : `${count(all)} files`;
}
