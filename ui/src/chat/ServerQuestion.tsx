import { type KeyboardEvent, useEffect, useId, useRef, useState } from "react";
import type { ServerQuestion as Asked, ErrorReport, ServerAnswer, ServerWants } from "../bridge/bindings";
import { reportOf, shell } from "../bridge/bridge";
import { ErrorNote } from "../frame/ErrorNote";
import { showError } from "../frame/errors";
import { useFocusHandOver } from "../frame/useFocusHandOver";
import { RichText } from "../language/RichText";
import { t } from "../language/text";
import { type Address, addressOf } from "../markdown/address";
import { ActionButton } from "../primitives/ActionButton";
import { Icon } from "../primitives/icons";
import { MAC } from "../primitives/platform";
import { useStore } from "../state/store";
import { serverOf } from "./callWords";
import { ServerFields } from "./ServerFields";
import { beginning, type Filled, type FilledForm, missing, written } from "./serverForm";
import { VisibleText } from "./VisibleText";
import { VisitedAddress } from "./VisitedAddress";
import { visible } from "./visible";

/** No key and no click answers a card that is so new: they were meant for what stood there. In milliseconds. */
const UNREAD = 500;

/** Questions that were read out. A card that is drawn once more is not a new one. */
const told = new Set<number>();

/** What is filled in so far, by question: whoever looks at another screen meanwhile finds it again. */
const begun = new Map<number, FilledForm>();

const isOpen = (id: number): boolean =>
  useStore.getState().tools.questions.some((question) => question.id === id);

/** What servers ask in the middle of their calls: the oldest question, until it is answered or nobody waits for it. */
export function ServerQuestions() {
  const questions = useStore((state) => state.tools.questions);
  const [oldest] = questions;
  return oldest ? <ServerQuestion key={oldest.id} question={oldest} of={questions.length} /> : null;
}

interface Props {
  question: Asked;
  /** How many stand open. */
  of: number;
}

/** What a server asks, in its words. It takes no focus, and has no default. */
function ServerQuestion({ question: { id, server: slug, message, wants }, of }: Props) {
  const heading = useId();
  const server = useStore((state) => visible(serverOf(slug, state.tools)?.name ?? slug));
  const [isNew] = useState(() => !told.has(id));
  const [form, setForm] = useState(() => begun.get(id) ?? begunWith(wants));
  const [sent, setSent] = useState(false);
  const [error, setError] = useState<ErrorReport | null>(null);
  const since = useRef(performance.now());
  const card = useFocusHandOver<HTMLElement>();
  useEffect(() => {
    told.add(id);
    return () => {
      if (!isOpen(id)) begun.delete(id);
    };
  }, [id]);

  const fill = (name: string, filled: Filled) => {
    const next = new Map(form).set(name, filled);
    begun.set(id, next);
    setForm(next);
  };
  const address = wants.kind === "visit" ? openable(wants.address) : null;
  const busy = sent ? t("server-question.sent") : null;
  const cannotAccept = busy ?? (wants.kind === "form" ? missing(wants.fields, form) : closed(address));
  const answer = async (given: ServerAnswer) => {
    if (sent || performance.now() - since.current < UNREAD) return;
    setSent(true);
    setError(null);
    try {
      await shell.answerServer(id, given);
    } catch (failed) {
      setSent(false);
      // Where the card has gone with its question, the chat says why.
      if (isOpen(id)) setError(reportOf(failed));
      else showError(failed);
    }
  };
  const accept = () => {
    if (cannotAccept !== null || isHalfTyped(card.current)) return;
    answer({ answer: "accept", values: wants.kind === "form" ? written(wants.fields, form) : null });
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Enter" || !(MAC ? event.metaKey : event.ctrlKey)) return;
    event.preventDefault();
    event.stopPropagation();
    if (!event.repeat) accept();
  };
  return (
    <section
      ref={card}
      className="server-question"
      aria-labelledby={heading}
      data-testid="server-question"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: its keys are heard while it has the focus
      tabIndex={0}
      onKeyDown={onKeyDown}
    >
      {isNew && (
        <p className="off-screen" role="alert">
          {t("server-question.plain", { server })}
        </p>
      )}
      <header>
        <span className="sign short">
          <Icon name="wrench" />
        </span>
        <h2 id={heading}>
          <RichText
            id="server-question"
            args={{ server }}
            parts={{ strong: (words) => <strong>{words}</strong> }}
          />
        </h2>
        <span className="spring" />
        {of > 1 && (
          <span className="server-question-place numbers" data-testid="server-question-place">
            {t("server-question.place", { at: 1, of })}
          </span>
        )}
      </header>
      <div className="server-question-body">
        <Message text={message} />
        {wants.kind === "form" ? (
          <ServerFields fields={wants.fields} form={form} onFill={fill} />
        ) : (
          <VisitedAddress written={wants.address} address={address} />
        )}
      </div>
      {error && <ErrorNote error={error} testId="server-question-error" />}
      <footer>
        <ActionButton className="button" data-testid="accept-server" reason={cannotAccept} onClick={accept}>
          {t(wants.kind === "form" ? "server-question.send" : "server-question.open")}
          <kbd>{MAC ? "⌘↩" : `${t("word-key-control")}+Enter`}</kbd>
        </ActionButton>
        <ActionButton
          className="button"
          data-testid="decline-server"
          reason={busy}
          onClick={() => answer({ answer: "decline" })}
        >
          {t("server-question.decline")}
        </ActionButton>
        {wants.kind === "form" && (
          <p className="server-question-note" data-testid="server-question-note">
            {t("server-question.note", { server })}
          </p>
        )}
      </footer>
    </section>
  );
}

const begunWith = (wants: ServerWants): FilledForm => beginning(wants.kind === "form" ? wants.fields : []);

/** The address as it is opened. One with a name to sign in with is not: that could pass for the site. */
function openable(written: string): Address | null {
  const url = URL.canParse(written) ? new URL(written) : null;
  return url === null || url.username !== "" || url.password !== "" ? null : addressOf(written);
}

const closed = (address: Address | null): string | null =>
  address === null ? t("server-question.not-opened") : null;

/** Whether a date is typed in part: it has no value yet, and would be left out unseen. Its field says so then. */
function isHalfTyped(card: HTMLElement | null): boolean {
  const half = [...(card?.querySelectorAll("input") ?? [])].find(({ validity }) => validity.badInput);
  half?.reportValidity();
  return half !== undefined;
}

/** All that the server says, with nothing hidden in it. Nothing in it is a link or drawn in another way. */
function Message({ text }: { text: string }) {
  if (!/\S/.test(text)) return null;
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for input, and a section would be a landmark
    <div
      role="group"
      className="server-message"
      aria-label={t("server-question.message")}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable with the keyboard
      tabIndex={0}
      translate="no"
      data-testid="server-message"
    >
      <VisibleText text={text} />
    </div>
  );
}
