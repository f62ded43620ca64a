import { type KeyboardEvent, useEffect, useId, useLayoutEffect, useRef, useState } from "react";
import type { CallAnswer, CallScope, ReplyCall } from "../bridge/bindings";
import { RichText } from "../language/RichText";
import { t } from "../language/text";
import { ActionButton } from "../primitives/ActionButton";
import { Icon } from "../primitives/icons";
import { MAC } from "../primitives/platform";
import { useStore } from "../state/store";
import { Arguments } from "./Arguments";
import { decide } from "./actions";
import { CallChange } from "./CallChange";
import { EditButton, Editing, ShownWords } from "./CallEditing";
import { CallLonger } from "./CallLonger";
import { CallOrigin } from "./CallOrigin";
import { editable, hiddenInArguments, objectOf } from "./callArguments";
import { namedTool } from "./callWords";
import { changesFile } from "./ownCalls";
import { useDifference } from "./useDifference";

/** No key and no click answers a card that is so new: they were meant for what stood there. In milliseconds. */
const UNREAD = 500;

/** Questions that were read out, by call and when it was asked. A card that is drawn once more is not a new one. */
const told = new Set<string>();

/** Asks whether a call may run, in the place where it will be told of. It takes no focus, and has no default. */
export function CallQuestion({ call }: { call: ReplyCall }) {
  const id = useId();
  const tools = useStore((state) => state.tools);
  const { name, server } = namedTool(call, tools);
  const [sent, setSent] = useState(false);
  const [edited, setEdited] = useState<string | null>(null);
  const [note, setNote] = useState<string | null>(null);
  const since = useRef(performance.now());
  const isNew = useFirstTime(`${Object.values(call.id).join(".")} ${call.asked_at}`);

  const isUnread = () => performance.now() - since.current < UNREAD;

  const invalid = edited !== null && objectOf(edited) === null;
  const changed = edited === null || edited === editable(call.arguments_written) ? null : edited;
  /** The arguments that the tool would get. */
  const json = invalid || changed === null ? call.arguments_written : changed;
  const changes = changesFile(call);
  const difference = useDifference(call.id, changed, changes && !invalid);
  const unseen = changes && difference.now === null;
  const busy = sent ? t("call-question.sent") : null;
  const cannotAllow =
    busy ?? (invalid ? t("call-question.no-object") : null) ?? (unseen ? t("call-question.unseen") : null);
  const answer = async (given: CallAnswer) => {
    if (sent) return;
    setSent(true);
    if (await decide(call.id, given)) return;
    setSent(false);
    // The file may have become another meanwhile.
    if (changes) difference.again();
  };
  // A click that came while the change was not shown yet does not allow it.
  const shownSince = useRef(Number.NEGATIVE_INFINITY);
  const shown = difference.now;
  useLayoutEffect(() => {
    if (shown) shownSince.current = performance.now();
  }, [shown]);
  const allow = (scope: CallScope) => {
    if (cannotAllow !== null || isUnread() || performance.now() - shownSince.current < UNREAD) return;
    answer({ answer: "allow", scope, arguments: changed, seen: shown?.seen ?? null });
  };
  const deny = () => {
    if (!isUnread()) answer({ answer: "deny", note: note?.trim() ?? "" });
  };
  const edit = () => setEdited(editable(call.arguments_written));
  const onKeyDown = (event: KeyboardEvent) => {
    const command = MAC ? event.metaKey : event.ctrlKey;
    const isAnswer = command && (event.key === "Enter" || event.key === "Backspace");
    // In a field these keys are for its text; on a button or the card, they answer.
    const inField = event.target instanceof HTMLTextAreaElement || event.target instanceof HTMLInputElement;
    if (!isAnswer || inField) return;
    event.preventDefault();
    event.stopPropagation();
    if (event.repeat) return;
    if (event.key === "Enter") allow("once");
    else deny();
  };
  const parts = { strong: (words: string) => <strong>{words}</strong> };
  return (
    <section
      className="call-question"
      aria-labelledby={id}
      data-testid="call-question"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: its keys are heard while it has the focus
      tabIndex={0}
      onKeyDown={onKeyDown}
    >
      {isNew && (
        <p className="off-screen" role="alert">
          {server === null
            ? t("call-question.own-plain", { tool: name })
            : t("call-question.plain", { tool: name, server })}
        </p>
      )}
      <header>
        <span className="sign short">
          <Icon name="wrench" />
        </span>
        <h2 id={id}>
          {server === null ? (
            <RichText id="call-question.own" args={{ tool: name }} parts={parts} />
          ) : (
            <RichText id="call-question" args={{ tool: name, server }} parts={parts} />
          )}
        </h2>
      </header>
      {call.may_leak && (
        <p className="call-leak" data-testid="may-leak">
          <Icon name="warn" />
          {t("call-question.leak")}
        </p>
      )}
      <CallOrigin call={call} json={json} />
      {changes && <CallChange difference={difference} />}
      {edited === null && changes && <FoldedArguments json={call.arguments_written} onEdit={edit} />}
      {edited === null && !changes && (
        <>
          <Arguments name={t("call-arguments")} json={call.arguments_written} />
          <ShownWords json={call.arguments_written} onEdit={edit} />
        </>
      )}
      {edited !== null && (
        <Editing
          text={edited}
          problem={invalid ? t("call-question.no-object") : null}
          onText={setEdited}
          onLeave={() => setEdited(null)}
        />
      )}
      {note !== null && (
        <form
          className="call-note"
          onSubmit={(event) => {
            event.preventDefault();
            deny();
          }}
        >
          <input
            type="text"
            autoComplete="off"
            // biome-ignore lint/a11y/noAutofocus: the person has asked for it
            autoFocus
            value={note}
            placeholder={t("call-question.why")}
            aria-label={t("call-question.why")}
            data-testid="deny-note"
            data-escape
            onChange={(event) => setNote(event.target.value)}
            onKeyDown={(event) => {
              if (event.key !== "Escape") return;
              event.preventDefault();
              setNote(null);
            }}
          />
        </form>
      )}
      <footer>
        <ActionButton
          className="button"
          data-testid="allow-once"
          reason={cannotAllow}
          onClick={() => allow("once")}
        >
          {t("call-question.allow")}
          <kbd>{MAC ? "⌘↩" : `${t("word-key-control")}+Enter`}</kbd>
        </ActionButton>
        <ActionButton className="button" data-testid="deny" reason={busy} onClick={deny}>
          {t("call-question.deny")}
          <kbd>{MAC ? "⌘⌫" : `${t("word-key-control")}+⌫`}</kbd>
        </ActionButton>
        {note === null && (
          <button type="button" className="quiet-button" data-testid="deny-why" onClick={() => setNote("")}>
            {t("call-question.deny-why")}
          </button>
        )}
        <span className="spring" />
        <CallLonger
          call={call}
          server={server}
          json={json}
          reason={cannotAllow}
          isUnread={isUnread}
          allow={allow}
        />
      </footer>
    </section>
  );
}

/** Whether this is seen for the first time. */
function useFirstTime(name: string): boolean {
  const [isNew] = useState(() => !told.has(name));
  useEffect(() => void told.add(name), [name]);
  return isNew;
}

interface FoldedProps {
  json: string;
  onEdit: () => void;
}

/** The arguments as the model has written them, below what they come to: they are seen when somebody asks. */
function FoldedArguments({ json, onEdit }: FoldedProps) {
  const [open, setOpen] = useState(false);
  const id = useId();
  return (
    <>
      <p className="call-shown">
        <button
          type="button"
          className="quiet-button call-fold"
          aria-expanded={open}
          aria-controls={id}
          data-testid="fold-arguments"
          onClick={() => setOpen(!open)}
        >
          <Icon name="right" />
          {t("call-arguments")}
        </button>
        <span className="spring" />
        <EditButton onEdit={onEdit} />
      </p>
      <div id={id} className="call-folded" hidden={!open}>
        {open && <Arguments name={t("call-arguments")} json={json} />}
      </div>
      {(open || hiddenInArguments(json) > 0) && <ShownWords json={json} onEdit={null} />}
    </>
  );
}
