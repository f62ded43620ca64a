import { useEffect, useId, useRef } from "react";
import { t } from "../language/text";
import { Icon } from "../primitives/icons";
import { argumentsOf, hiddenInArguments } from "./callArguments";

/** Says that the arguments are all there, and how many of their characters nobody would see; lets them be changed. */
export function ShownWords({ json, onEdit }: { json: string; onEdit: (() => void) | null }) {
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
      {onEdit && <EditButton onEdit={onEdit} />}
    </p>
  );
}

/** Lets the arguments be changed. */
export const EditButton = ({ onEdit }: { onEdit: () => void }) => (
  <button type="button" className="quiet-button" data-testid="edit-arguments" onClick={onEdit}>
    {t("call-question.edit")}
  </button>
);

interface Props {
  text: string;
  problem: string | null;
  onText: (text: string) => void;
  onLeave: () => void;
}

/** The arguments as JSON, to be changed before the call may run. */
export function Editing({ text, problem, onText, onLeave }: Props) {
  const id = useId();
  const field = useRef<HTMLTextAreaElement>(null);
  // It stands where the arguments stood, which the person sees: the view is not to move to it.
  useEffect(() => field.current?.focus({ preventScroll: true }), []);
  return (
    <div className="call-editing">
      <textarea
        ref={field}
        className="system-prompt"
        rows={Math.min(14, text.split("\n").length + 1)}
        spellCheck={false}
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
