import { type FormEvent, type KeyboardEvent, useEffect, useId } from "react";
import { serverOf } from "../chat/callWords";
import { ServerFields } from "../chat/ServerFields";
import { missing } from "../chat/serverForm";
import { VisibleText } from "../chat/VisibleText";
import { visible } from "../chat/visible";
import { useFocusHandOver } from "../frame/useFocusHandOver";
import { t } from "../language/text";
import { ActionButton } from "../primitives/ActionButton";
import { useStore } from "../state/store";
import { fillIn, insertCard, putCardAway } from "./actions";
import { fieldsOf } from "./promptFields";
import type { PromptCard as Card } from "./view";

/** The prompt of a server that the person fills in for the open chat, if there is one. */
export function PromptCard() {
  const card = useStore(({ promptCard, chat }) => (promptCard?.chat === chat ? promptCard : null));
  return card && <PromptForm key={card.id} card={card} />;
}

function PromptForm({ card }: { card: Card }) {
  const { prompt, form, sent } = card;
  const heading = useId();
  const server = useStore((state) => visible(serverOf(card.server, state.tools)?.name ?? card.server));
  const place = useFocusHandOver<HTMLFormElement>();
  useEffect(() => {
    place.current?.querySelector("input")?.focus();
  }, [place]);
  const fields = fieldsOf(prompt);
  const cannot = sent ? t("offers-prompt.sent") : missing(fields, form);
  const onSubmit = (event: FormEvent) => {
    event.preventDefault();
    if (cannot === null) insertCard(card);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Escape") return;
    event.preventDefault();
    event.stopPropagation();
    putCardAway();
  };
  return (
    <form
      ref={place}
      className="server-question prompt-card"
      aria-labelledby={heading}
      autoComplete="off"
      data-escape
      data-testid="prompt-card"
      onSubmit={onSubmit}
      onKeyDown={onKeyDown}
    >
      <header>
        <h2 id={heading}>
          <strong translate="no">
            <VisibleText text={prompt.title} />
          </strong>
        </h2>
        <span className="spring" />
        <span className="server-question-place" translate="no">
          {server}
        </span>
      </header>
      <div className="server-question-body">
        {/\S/.test(prompt.description) && (
          <p className="prompt-card-words" translate="no" data-testid="prompt-card-words">
            <VisibleText text={prompt.description} />
          </p>
        )}
        <ServerFields fields={fields} form={form} onFill={(name, filled) => fillIn(card, name, filled)} />
      </div>
      <footer>
        <ActionButton type="submit" className="button primary" data-testid="insert-prompt" reason={cannot}>
          {t(sent ? "offers-prompt.filling" : "offers-prompt.insert")}
        </ActionButton>
        <button type="button" className="button" data-testid="cancel-prompt" onClick={putCardAway}>
          {t("offers-prompt.cancel")}
        </button>
        <p className="server-question-note">{t("offers-prompt.note", { server })}</p>
      </footer>
    </form>
  );
}
