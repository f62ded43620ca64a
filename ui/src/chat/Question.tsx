import { type KeyboardEvent, memo, useMemo, useRef, useState } from "react";
import type { Message } from "../bridge/bindings";
import { t } from "../language/text";
import { ActionButton } from "../primitives/ActionButton";
import { CopyButton } from "../primitives/CopyButton";
import { GrowingField } from "../primitives/GrowingField";
import { Icon } from "../primitives/icons";
import { setView, useAnswerReason, useStore } from "../state/store";
import { edit, leaveEdit } from "./actions";
import { addPictures, setEditDetail } from "./attaching";
import { splitFiles, withFiles } from "./attachments";
import { isLong } from "./cut";
import { setEdit } from "./drafts";
import { Files } from "./Files";
import { focusComposer } from "./focus";
import { LongText } from "./LongText";
import { MessageMenu } from "./MessageMenu";
import { Pictures } from "./Pictures";
import { Versions } from "./Versions";
import { isChanged } from "./view";

/** What the person wrote. */
export const Question = memo(function Question({ message }: { message: Message }) {
  const editing = useStore((state) => state.editing === message.id);
  const reason = useAnswerReason();
  const { text, files } = useMemo(() => splitFiles(message.text), [message.text]);
  const unsent = useStore(({ edits }) => isChanged(edits[message.id], text));
  return (
    <article className="question-turn" aria-label={t("reply-question")} data-message={message.id}>
      {editing ? (
        <QuestionForm message={message} />
      ) : (
        <>
          <Pictures pictures={message.pictures} />
          {message.text !== "" && (
            <div className={isLong(text) ? "question long" : "question"} data-testid="message-user">
              <LongText text={text} />
              <Files files={files} />
            </div>
          )}
          <div className="question-foot">
            <span className={unsent ? "message-actions" : "message-actions when-near"}>
              {text.trim() !== "" && (
                <CopyButton text={text} label={t("reply-copy")} testId="copy-question" />
              )}
              <ActionButton
                className={unsent ? "quiet-button unsent" : "quiet-button"}
                data-testid="edit"
                reason={reason}
                onClick={() => setView({ editing: message.id })}
              >
                {t(unsent ? "reply-edit.continue" : "reply-edit")}
              </ActionButton>
              <MessageMenu message={message} />
            </span>
            <Versions message={message} />
          </div>
        </>
      )}
    </article>
  );
});

function QuestionForm({ message }: { message: Message }) {
  const [{ text: before, files }] = useState(() => splitFiles(message.text));
  const pictures = useStore((state) => state.edits[message.id]?.pictures) ?? message.pictures;
  const adding = useStore((state) => state.addingTo === message.id);
  const field = useRef<HTMLTextAreaElement>(null);
  const text = useStore((state) => state.edits[message.id]?.text ?? before);
  const answerReason = useAnswerReason();
  const reason =
    answerReason ??
    (adding ? t("reply-question.picture-read") : null) ??
    (!/\S/.test(text) && files.length + pictures.length === 0 ? t("reply-question.empty") : null);
  const submit = () => {
    if (reason === null) edit(message.id, withFiles(text, files), pictures);
  };
  const cancel = () => {
    leaveEdit(message.id);
    focusComposer();
  };
  const onRemove = (index: number) => {
    setEdit(message, { pictures: pictures.toSpliced(index, 1) });
    // The button that was used is gone.
    field.current?.focus();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "Escape") cancel();
    else if (event.key === "Enter" && !event.shiftKey) submit();
    else return;
    event.preventDefault();
  };
  return (
    <form
      className="question-form"
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <Pictures
        pictures={pictures}
        onRemove={onRemove}
        onDetail={(index, detail) => setEditDetail(message, index, detail)}
      />
      <GrowingField
        ref={field}
        autoFocus
        text={text}
        onText={(text) => setEdit(message, { text })}
        aria-label={t("reply-question.message")}
        data-testid="edit-text"
        data-escape
        onFocus={(event) => event.target.setSelectionRange(text.length, text.length)}
        onKeyDown={onKeyDown}
      />
      <Files files={files} />
      <div className="question-form-foot">
        <button
          type="button"
          className="icon-button"
          aria-label={t("reply-question.pictures")}
          title={t("reply-question.pictures")}
          data-testid="edit-pictures"
          onClick={() => addPictures(message)}
        >
          <Icon name="picture" />
        </button>
        <span className="soft">{t("reply-question.kept")}</span>
        <span className="spring" />
        <button type="button" className="button" data-testid="cancel-edit" onClick={cancel}>
          {t("reply-edit.cancel")}
        </button>
        <ActionButton type="submit" className="button primary" data-testid="send-edit" reason={reason}>
          {t("reply-question.send")}
        </ActionButton>
      </div>
    </form>
  );
}
