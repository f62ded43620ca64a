import { useState } from "react";
import { changeSettings } from "../actions";
import type { Drafting } from "../bindings";
import { draftingName, mtpChip } from "../format";
import { radios } from "../radios";
import { useDraftingNote, useModel, useStore } from "../store";
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
  const chip = mtpChip(drafting, useModel(), useDraftingNote());
  const [open, setOpen] = useState(false);
  const current = draftingName(drafting);

  const at = CHOICES.findIndex((choice) => choice.name === current);
  const check = (index: number) => {
    const choice = CHOICES[index];
    if (choice) changeSettings({ drafting: choice.drafting });
  };
  const { group, radio } = radios("Drafts per pass", at, check);

  return (
    <PopoverButton
      label={
        <>
          MTP <strong>{chip.setting}</strong>
          {chip.words && ` · ${chip.words}`}
        </>
      }
      title="Multi-token prediction"
      testId="mtp-control"
      reason={chip.usable ? null : chip.why}
      hint={chip.why}
      open={open}
      onOpenChange={setOpen}
    >
      <h2>Multi-token prediction</h2>
      <div className="choices" {...group}>
        {CHOICES.map((choice, index) => (
          <button
            {...radio(index)}
            key={choice.name}
            className="choice"
            data-testid={`mtp-option-${choice.name.toLowerCase()}`}
            onClick={() => {
              check(index);
              setOpen(false);
            }}
          >
            <span className="choice-name">{choice.name}</span>
            <span className="choice-words">{choice.words}</span>
            {index === at && <Icon name="check" />}
          </button>
        ))}
      </div>
      {chip.why && (
        <p className="popover-note" data-testid="mtp-note">
          {chip.why}
        </p>
      )}
      <p className="popover-note">
        The model guesses the next tokens and checks the guesses in one pass. Applies to the next message.
      </p>
    </PopoverButton>
  );
}
