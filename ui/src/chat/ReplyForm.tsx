import type { KeyboardEvent } from "react";
import type { Message } from "../bridge/bindings";
import { t } from "../language/text";
import { ActionButton } from "../primitives/ActionButton";
import { GrowingField } from "../primitives/GrowingField";
import { useStore, useWritingReason } from "../state/store";
import { editReply, leaveEdit } from "./actions";
import { setEdit } from "./drafts";
import { focusComposer } from "./focus";
import { isSummary } from "./view";

/** The text of a reply or a summary, to be changed. A reply has paragraphs, so Enter begins a line here. */
export function ReplyForm({ message }: { message: Message }) {
  const text = useStore((state) => state.edits[message.id]?.text ?? message.text);
  const writing = useWritingReason();
  const summary = isSummary(message);
  const reason =
    writing ??
    (!/\S/.test(text) ? t(summary ? "reply-form.summary-empty" : "reply-form.empty") : null) ??
    (text === message.text ? t("reply-form.unchanged") : null);
  const save = () => {
    if (reason === null) editReply(message.id, text);
  };
  const cancel = () => {
    leaveEdit(message.id);
    focusComposer();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "Escape") cancel();
    else if (event.key === "Enter" && (event.metaKey || event.ctrlKey)) save();
    else return;
    event.preventDefault();
  };
  return (
    <form
      className="question-form"
      onSubmit={(event) => {
        event.preventDefault();
        save();
      }}
    >
      <GrowingField
        autoFocus
        text={text}
        onText={(text) => setEdit(message, { text })}
        aria-label={t(summary ? "reply-form.summary" : "reply-form")}
        data-testid="edit-reply-text"
        data-escape
        onFocus={(event) => event.target.setSelectionRange(text.length, text.length)}
        onKeyDown={onKeyDown}
      />
      <div className="question-form-foot">
        <span className="soft">{t("reply-form.goes-on")}</span>
        <span className="spring" />
        <button type="button" className="button" data-testid="cancel-edit" onClick={cancel}>
          {t("reply-edit.cancel")}
        </button>
        <ActionButton type="submit" className="button primary" data-testid="save-reply" reason={reason}>
          {t("reply-form.save")}
        </ActionButton>
      </div>
    </form>
  );
}
