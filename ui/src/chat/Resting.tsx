import type { Message } from "../bridge/bindings";
import { t } from "../language/text";
import { ActionButton } from "../primitives/ActionButton";
import { useReason } from "../state/store";
import { continueReply, endResting } from "./actions";
import { Versions } from "./Versions";

/** What stands below a reply that rests: for what it waits, and what can be done where that is no question above. */
export function Resting({ message, last }: { message: Message; last: boolean }) {
  const reason = useReason("ask");
  const asking = message.status.state === "asking";
  return (
    <div className="reply-foot resting" data-testid="resting">
      <span className="resting-words">
        {asking ? t("call-waits") : t("call-paused", { count: message.steps.length })}
      </span>
      {!asking && last && (
        <span className="message-actions">
          <ActionButton
            className="button"
            data-testid="go-on"
            reason={reason}
            onClick={() => continueReply(message.id)}
          >
            {t("call-paused.go-on")}
          </ActionButton>
          <button
            type="button"
            className="quiet-button"
            data-testid="end-paused"
            onClick={() => endResting(message.id)}
          >
            {t("call-paused.stop")}
          </button>
        </span>
      )}
      <Versions message={message} />
    </div>
  );
}
