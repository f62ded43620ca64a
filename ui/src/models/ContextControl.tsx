import { useState } from "react";
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
  const { group, radio } = radios("Length of a chat", at, check);
  return (
    <PopoverButton
      label={
        <span className="numbers">
          <span className="context-words">Fit for chats of </span>
          {thousands(chosen)}
        </span>
      }
      title="What fit is judged for"
      testId="context-control"
      side="bottom"
      className="button context-control"
      popupClassName="lengths"
      hint="How long a chat the verdicts are for"
      open={open}
      onOpenChange={setOpen}
    >
      <h2>Length of a chat</h2>
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
            <span className="choice-name numbers">{thousands(choice)} tokens</span>
            <span className="choice-words">{chatLabel(choice)}</span>
            {index === at && <Icon name="check" />}
          </button>
        ))}
      </div>
      <p className="popover-note">
        A longer chat takes more memory. Whether a model fits, and which one is recommended, is judged for a
        chat of this length. It sets no limit.
      </p>
      <LibraryError subject={about.context} />
    </PopoverButton>
  );
}
