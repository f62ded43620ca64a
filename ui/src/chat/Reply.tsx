import { memo } from "react";
import type { ErrorReport, Message } from "../bridge/bindings";
import { ErrorNote } from "../frame/ErrorNote";
import { t } from "../language/text";
import { formatted } from "../paper/copying";
import { ActionButton } from "../primitives/ActionButton";
import { CopyButton } from "../primitives/CopyButton";
import { useProvenance } from "../reveal/useProvenance";
import { isResting } from "../state/steps";
import { setView, useAnswerReason, useGeneration, useModel, useStore } from "../state/store";
import { continueReply, retry } from "./actions";
import { contextUse } from "./context";
import { FinishedLine } from "./FinishedLine";
import { LiveLine } from "./LiveLine";
import { MessageMenu } from "./MessageMenu";
import { ReplyForm } from "./ReplyForm";
import { Resting } from "./Resting";
import { Rounds } from "./Rounds";
import { Sources } from "./Sources";
import { SummariseButton } from "./Summarise";
import { Versions } from "./Versions";
import { canBeSummarised, comparable, isChanged, isMeasured } from "./view";

/** A reply, as it is written and when it is done. */
export const Reply = memo(function Reply({ message, last }: { message: Message; last: boolean }) {
  const live = useStore((state) => state.live[message.id]);
  const provenance = useProvenance(message, live);
  const editing = useStore((state) => state.editing === message.id);
  const streaming = message.status.state === "streaming";
  const resting = isResting(message);
  return (
    <article
      className="reply"
      data-testid="message-assistant"
      data-message={message.id}
      aria-label={t("reply-name")}
      aria-busy={streaming}
    >
      <Rounds message={message} live={live} provenance={provenance} textless={editing} />
      {editing && <ReplyForm message={message} />}
      {streaming && <LiveLine live={live} question={message.parent} />}
      {resting && !editing && <Resting message={message} last={last} />}
      {!streaming && !resting && !editing && <ReplyFoot message={message} last={last} />}
    </article>
  );
});

function ReplyFoot({ message, last }: { message: Message; last: boolean }) {
  const { stats, text, thinking, steps } = message;
  const kept = text !== "" || thinking !== "" || steps.length > 0;
  const broken = problem(message);
  const hasOthers = useStore(({ versions }) => (versions[message.id]?.length ?? 0) > 1);
  const ending = endingLabel(message);
  const unsent = useStore(({ edits }) => isChanged(edits[message.id], text));
  return (
    <>
      {broken && (
        <ErrorNote
          error={{ ...broken, hint: [broken.hint, kept && keptLabel(message)].filter(Boolean).join(" ") }}
          testId="reply-error"
          actions={last && <NextSteps message={message} kept={kept} broken last />}
        />
      )}
      <Sources question={message.parent} />
      <div className="reply-foot">
        {stats && isMeasured(message) && (
          <FinishedLine message={message.id} stats={comparable(message, stats)} />
        )}
        <div className="foot-end">
          {hasOthers && message.model && <span className="ending version-model">{message.model}</span>}
          {message.edited && <span className="ending">{t("reply-edited")}</span>}
          {ending && <span className="ending">{ending}</span>}
          <Versions message={message} />
          <span className={last || unsent ? "message-actions" : "message-actions when-near"}>
            {unsent && (
              <button
                type="button"
                className="quiet-button unsent"
                data-testid="edit-reply"
                onClick={() => setView({ editing: message.id })}
              >
                {t("reply-edit.continue")}
              </button>
            )}
            {text !== "" && (
              <CopyButton
                text={() => formatted(message.id, text)}
                label={t("reply-copy")}
                testId="copy-reply"
              />
            )}
            {!(last && broken) && <NextSteps message={message} kept={kept} last={last} />}
            <MessageMenu message={message} />
          </span>
        </div>
      </div>
    </>
  );
}

interface NextStepsProps {
  message: Message;
  /** Whether something was written. */
  kept: boolean;
  /** Whether nothing follows it. */
  last: boolean;
  /** Whether they stand in the note that says what went wrong. */
  broken?: boolean;
}

/** What the model can do with a reply, the best first. */
function NextSteps({ message, kept, last, broken = false }: NextStepsProps) {
  const reason = useAnswerReason();
  const full = useContextIsFull();
  const { status } = message;
  const cut = status.state === "finished" && status.reason === "length";
  const unfinished =
    status.state === "interrupted" || (status.state === "finished" && status.reason !== "stop");
  // What the model can read has no room for one word more; the note above the message says what to do then.
  const long = broken && message.error?.code === "prompt_too_long";
  const summarisable = useStore(({ messages }) => long && canBeSummarised(messages));
  const goesOn = last && (unfinished || message.edited) && kept && !full;
  return (
    <>
      {summarisable && <SummariseButton primary />}
      {goesOn && (
        <ActionButton
          className={broken || cut ? "button primary" : "quiet-button"}
          data-testid="continue"
          reason={reason}
          onClick={() => continueReply(message.id)}
        >
          {t(broken ? "reply-continue.broken" : "reply-continue")}
        </ActionButton>
      )}
      <ActionButton
        className={!broken ? "quiet-button" : goesOn || full || long ? "button" : "button primary"}
        data-testid="retry"
        reason={reason}
        onClick={() => retry(message.id)}
      >
        {t(broken ? "reply-again.broken" : "reply-again")}
      </ActionButton>
    </>
  );
}

/** Whether the open chat is as long as what the model can read. */
function useContextIsFull(): boolean {
  const model = useModel();
  const settings = useGeneration();
  return useStore(({ messages }) => contextUse(messages, model, settings)?.full ?? false);
}

function problem({ status, error }: Message): ErrorReport | null {
  if (error) return error;
  if (status.state === "interrupted") {
    return { code: "interrupted", message: t("reply-interrupted"), hint: "" };
  }
  if (status.state === "finished" && status.reason === "error") {
    return { code: "unknown", message: t("reply-failed"), hint: t("reply-failed.hint") };
  }
  return null;
}

const WORDS = new Intl.Segmenter(undefined, { granularity: "word" });

/** What is kept of a reply that went wrong after something was written. */
function keptLabel({ text }: Message): string {
  let words = 0;
  for (const { isWordLike } of WORDS.segment(text)) if (isWordLike) words += 1;
  return t("reply-kept", { words });
}

function endingLabel({ status, stats }: Message): string | null {
  if (status.state !== "finished") return null;
  if (status.reason === "cancelled") return t("reply-stopped");
  if (status.reason === "length")
    return stats ? t("reply-stopped.tokens", { tokens: stats.emitted }) : t("reply-stopped.longest");
  return null;
}
