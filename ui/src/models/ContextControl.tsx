import { useState } from "react";
import { t } from "../language/text";
import { Icon } from "../primitives/icons";
import { PopoverButton } from "../primitives/PopoverButton";
import { radios } from "../primitives/radios";
import { useStore } from "../state/store";
import { about, setFitContext } from "./actions";
import { LibraryError } from "./LibraryError";
import { chatLabel, thousands } from "./labels";

/** How long a chat the verdicts are for. */
export function ContextControl() {
  const context = useStore((state) => state.library?.context);
  const [open, setOpen] = useState(false);
  if (!context) return null;
  const { chosen, choices } = context;
  const at = choices.indexOf(chosen);
  const check = (index: number) => {
    const choice = choices[index];
    if (choice !== undefined && choice !== chosen) setFitContext(choice);
  };
  const { group, radio } = radios(t("models-context.length"), at, check);
  return (
    <PopoverButton
      label={<span className="numbers">{t("models-context", { length: thousands(chosen) })}</span>}
      title={t("models-context.title")}
      testId="context-control"
      side="bottom"
      className="button context-control"
      popupClassName="lengths"
      hint={t("models-context.hint")}
      open={open}
      onOpenChange={setOpen}
    >
      <h2>{t("models-context.length")}</h2>
      <div className="choices" {...group}>
        {choices.map((choice, index) => (
          <button
            {...radio(index)}
            key={choice}
            className="choice"
            data-testid={`context-${choice}`}
            onClick={() => {
              check(index);
              setOpen(false);
            }}
          >
            <span className="choice-name numbers">
              {t("models-context-tokens", { tokens: thousands(choice) })}
            </span>
            <span className="choice-words">{chatLabel(choice)}</span>
            {index === at && <Icon name="check" />}
          </button>
        ))}
      </div>
      <p className="popover-note">{t("models-context.note")}</p>
      <LibraryError subject={about.context} />
    </PopoverButton>
  );
}
