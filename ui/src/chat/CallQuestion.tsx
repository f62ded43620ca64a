import { type KeyboardEvent, useEffect, useId, useRef, useState } from "react";
import type { CallAnswer, CallScope, ReplyCall } from "../bridge/bindings";
import { RichText } from "../language/RichText";
import { t } from "../language/text";
import { ActionButton } from "../primitives/ActionButton";
import { Icon } from "../primitives/icons";
import { MenuButton } from "../primitives/MenuButton";
import { MAC } from "../primitives/platform";
import { useStore } from "../state/store";
import { Arguments } from "./Arguments";
import { decide } from "./actions";
import { CallOrigin } from "./CallOrigin";
import { argumentsOf, editable, hiddenInArguments, objectOf } from "./callArguments";
import { namedTool } from "./callWords";

/** No key answers a card that is so new: whoever was typing has not read it. In milliseconds. */
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

  const invalid = edited !== null && objectOf(edited) === null;
  const busy = sent ? t("call-question.sent") : null;
  const cannotAllow = busy ?? (invalid ? t("call-question.no-object") : null);
  const answer = async (given: CallAnswer) => {
    if (sent) return;
    setSent(true);
    if (!(await decide(call.id, given))) setSent(false);
  };
  const allow = (scope: CallScope) => {
    if (cannotAllow !== null) return;
    const changed = edited !== null && edited !== editable(call.arguments_written);
    answer({ answer: "allow", scope, arguments: changed ? edited : null });
  };
  const deny = () => answer({ answer: "deny", note: note?.trim() ?? "" });
  const onKeyDown = (event: KeyboardEvent) => {
    const command = MAC ? event.metaKey : event.ctrlKey;
    const isAnswer = command && (event.key === "Enter" || event.key === "Backspace");
    // In a field these keys are for its text; on a button or the card, they answer.
    const inField = event.target instanceof HTMLTextAreaElement || event.target instanceof HTMLInputElement;
    if (!isAnswer || inField) return;
    event.preventDefault();
    event.stopPropagation();
    if (event.repeat || performance.now() - since.current < UNREAD) return;
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
      <CallOrigin call={call} />
      {edited === null ? (
        <>
          <Arguments name={t("call-arguments")} json={call.arguments_written} />
          <ShownWords
            json={call.arguments_written}
            onEdit={() => setEdited(editable(call.arguments_written))}
          />
        </>
      ) : (
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
        <Longer server={server} reason={cannotAllow} allow={allow} />
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

/** Allows for longer than this call. */
function Longer({
  server,
  reason,
  allow,
}: {
  server: string | null;
  reason: string | null;
  allow: (scope: CallScope) => void;
}) {
  const entry = (name: string, scope: CallScope) => ({ name, reason, onSelect: () => allow(scope) });
  const entries = [
    entry(t("call-question.in-chat"), "chat"),
    entry(t("call-question.always"), "always"),
    ...(server === null ? [] : [entry(t("call-question.server", { server }), "server_in_chat")]),
  ];
  return (
    <MenuButton
      label={t("call-question.longer-label")}
      testId="allow-longer"
      className="quiet-button"
      entries={entries}
    >
      {t("call-question.longer")}
      <Icon name="down" />
    </MenuButton>
  );
}

/** Says that the arguments are all there, and how many of their characters nobody would see; lets them be changed. */
function ShownWords({ json, onEdit }: { json: string; onEdit: () => void }) {
  const hidden = hiddenInArguments(json);
  const count = argumentsOf(json)?.length ?? null;
  return (
    <p className={hidden > 0 ? "call-shown warned" : "call-shown"}>
      <Icon name={hidden > 0 ? "warn" : "check"} />
      <span data-testid="call-shown">
        {hidden > 0
          ? t("call-question.hidden", { count: hidden })
          : count === 0 || count === null
            ? t("call-question.shown-all")
            : t("call-question.shown", { count })}
      </span>
      <span className="spring" />
      <button type="button" className="quiet-button" data-testid="edit-arguments" onClick={onEdit}>
        {t("call-question.edit")}
      </button>
    </p>
  );
}

interface EditingProps {
  text: string;
  problem: string | null;
  onText: (text: string) => void;
  onLeave: () => void;
}

/** The arguments as JSON, to be changed before the call may run. */
function Editing({ text, problem, onText, onLeave }: EditingProps) {
  const id = useId();
  return (
    <div className="call-editing">
      <textarea
        className="system-prompt"
        rows={Math.min(14, text.split("\n").length + 1)}
        spellCheck={false}
        // biome-ignore lint/a11y/noAutofocus: the person has asked for it
        autoFocus
        value={text}
        aria-label={t("call-question.json")}
        aria-invalid={problem !== null}
        aria-describedby={id}
        data-testid="arguments-json"
        data-escape
        onChange={(event) => onText(event.target.value)}
        onKeyDown={(event) => {
          if (event.key !== "Escape") return;
          event.preventDefault();
          onLeave();
        }}
      />
      <p className="call-shown">
        <span id={id} className={problem === null ? undefined : "field-problem"}>
          {problem ?? t("call-question.editing")}
        </span>
        <span className="spring" />
        <button type="button" className="quiet-button" data-testid="leave-arguments" onClick={onLeave}>
          {t("call-question.leave")}
        </button>
      </p>
    </div>
  );
}
