import { type KeyboardEvent, useState } from "react";
import { changeSettings } from "../actions";
import type { Drafting, ModelInfo } from "../bindings";
import { draftingName } from "../format";
import { useModel, useStore } from "../store";
import { Icon } from "./icons";
import { PopoverButton } from "./PopoverButton";

const CHOICES: { name: string; words: string; drafting: Drafting }[] = [
  { name: "Auto", words: "As many drafts as pay on this machine", drafting: { mode: "auto" } },
  { name: "Off", words: "No drafts, one token per pass", drafting: { mode: "off" } },
  { name: "1", words: "Always one draft ahead", drafting: { mode: "fixed", depth: 1 } },
  { name: "2", words: "Always two drafts ahead", drafting: { mode: "fixed", depth: 2 } },
  { name: "3", words: "Always three drafts ahead", drafting: { mode: "fixed", depth: 3 } },
];

/** How far the model guesses ahead. */
export function MtpControl() {
  const drafting = useStore((state) => state.settings.drafting);
  const reason = cannotDraft(useModel());
  const [open, setOpen] = useState(false);
  const current = draftingName(drafting);

  const choose = (choice: Drafting) => {
    changeSettings({ drafting: choice });
    setOpen(false);
  };

  return (
    <PopoverButton
      label={
        reason ? (
          `MTP · ${reason.short}`
        ) : (
          <>
            MTP <strong>{current}</strong>
          </>
        )
      }
      title="Multi-token prediction"
      testId="mtp-control"
      disabledBecause={reason?.long}
      open={open}
      onOpenChange={setOpen}
    >
      <h2>Multi-token prediction</h2>
      <div className="choices" role="radiogroup" aria-label="Drafts per pass" onKeyDown={moveFocus}>
        {CHOICES.map((choice) => (
          // biome-ignore lint/a11y/useSemanticElements: a choice that closes the popover is more than a radio input
          <button
            key={choice.name}
            type="button"
            role="radio"
            aria-checked={current === choice.name}
            className="choice"
            data-testid={`mtp-option-${choice.name.toLowerCase()}`}
            onClick={() => choose(choice.drafting)}
          >
            <span className="choice-name">{choice.name}</span>
            <span className="choice-words">{choice.words}</span>
            {current === choice.name && <Icon name="check" />}
          </button>
        ))}
      </div>
      <p className="popover-note">
        The model guesses the next tokens and checks the guesses in one pass. Applies to the next message.
      </p>
    </PopoverButton>
  );
}

/** Up and Down walk through the choices. */
function moveFocus(event: KeyboardEvent<HTMLElement>) {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step === undefined) return;
  event.preventDefault();
  const choices = [...event.currentTarget.querySelectorAll("button")];
  const at = choices.indexOf(document.activeElement as HTMLButtonElement);
  choices[(at + step + choices.length) % choices.length]?.focus();
}

function cannotDraft(model: ModelInfo | null): { short: string; long: string } | null {
  switch (model?.mtp.state) {
    case "absent":
      return { short: "no MTP head", long: "This model has no MTP head, so it cannot guess ahead." };
    case "stripped":
      return {
        short: "head removed",
        long: "The MTP head was removed when this copy of the model was converted, so it cannot guess ahead.",
      };
    default:
      return null;
  }
}
