import { Fragment, useState } from "react";
import type { AcceptanceRule, Drafting, ModelInfo } from "../bridge/bindings";
import { about } from "../models/actions";
import { GetDraftModel } from "../models/DraftModels";
import { offerSize } from "../models/draftModels";
import { LibraryError } from "../models/LibraryError";
import { draftingName, isGreedy, mtpChip, WHAT_DRAFTS_ARE } from "../primitives/format";
import { Glyph } from "../primitives/Glyph";
import { Icon } from "../primitives/icons";
import { PopoverButton } from "../primitives/PopoverButton";
import { radios } from "../primitives/radios";
import { useDraftingNote, useGeneration, useModel, useStore } from "../state/store";
import { changeSampling, changeSettings } from "./settings";

/** How far the model can be let guess ahead, here and in the settings. */
export const DRAFTING_CHOICES: { name: string; words: string; drafting: Drafting }[] = [
  { name: "Auto", words: "As many drafts as pay on this machine", drafting: { mode: "auto" } },
  { name: "Off", words: "No drafts, one token per pass", drafting: { mode: "off" } },
  { name: "1", words: "Always one draft ahead", drafting: { mode: "fixed", depth: 1 } },
  { name: "2", words: "Always two drafts ahead", drafting: { mode: "fixed", depth: 2 } },
  { name: "3", words: "Always three drafts ahead", drafting: { mode: "fixed", depth: 3 } },
  {
    name: "DFlash",
    words: "Many ahead at once, by a draft model",
    drafting: { mode: "dflash", depth: null },
  },
  { name: "Look-up", words: "From the text so far, for quotes and edits", drafting: { mode: "lookup" } },
];

const RULES: { rule: AcceptanceRule; name: string; words: string }[] = [
  {
    rule: "coupled",
    name: "Same text",
    words: "A guess stays where the model draws the same word. The text is the same as without MTP.",
  },
  {
    rule: "rejection",
    name: "More guesses",
    words:
      "More guesses stay, and every word is as likely as without them. The text differs, with a seed too.",
  },
];

/** How far ahead the glyph of a setting guesses. */
const glyphGuesses = (drafting: Drafting): number =>
  drafting.mode === "fixed" ? drafting.depth : drafting.mode === "dflash" ? 3 : 2;

/** How far the model guesses ahead. */
export function MtpControl() {
  const { drafting } = useGeneration();
  const model = useModel();
  const chip = mtpChip(drafting, model, useDraftingNote());
  const [open, setOpen] = useState(false);
  const current = draftingName(drafting);

  const hasDraftModel = model !== null && model.draft_model !== null;
  const choices = DRAFTING_CHOICES.filter(
    ({ drafting: { mode } }) => (chip.hasHead || mode !== "fixed") && (hasDraftModel || mode !== "dflash"),
  );
  const at = choices.findIndex((choice) => choice.name === current);
  const check = (index: number) => {
    const choice = choices[index];
    if (choice) changeSettings({ drafting: choice.drafting });
  };
  const { group, radio } = radios("Drafts per pass", at, check);

  return (
    <PopoverButton
      label={
        <>
          <Glyph guesses={chip.words === null ? glyphGuesses(drafting) : 0} />
          <span>
            MTP <strong>{chip.setting}</strong>
            {chip.words && ` · ${chip.words}`}
          </span>
        </>
      }
      title="Multi-token prediction"
      testId="mtp-control"
      hint={chip.why}
      open={open}
      onOpenChange={setOpen}
    >
      <h2>Multi-token prediction</h2>
      <div className="choices" {...group}>
        {choices.map((choice, index) => (
          <Fragment key={choice.name}>
            {choice.drafting.mode === "lookup" && model && !hasDraftModel && (
              <MissingDraftModel model={model} />
            )}
            <button
              {...radio(index)}
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
          </Fragment>
        ))}
      </div>
      {model && <LibraryError subject={about.draftOf(model.path)} />}
      <RuleChoice />
      {chip.why && (
        <p className="popover-note" data-testid="mtp-note">
          {chip.why}
        </p>
      )}
      <p className="popover-note">{WHAT_DRAFTS_ARE} Your choice applies to the next message.</p>
    </PopoverButton>
  );
}

/** Stands for DFlash where no draft model is loaded: it can be got, or is used soon. Nothing where none is known. */
function MissingDraftModel({ model }: { model: ModelInfo }) {
  const local = useStore((state) => state.library?.models.find(({ path }) => path === model.path));
  const offer = local?.draft_model_offer ?? null;
  if (offer === null && !local?.draft_model) return null;
  return (
    <div className="choice missing" data-testid="mtp-missing-dflash">
      <span className="choice-name">DFlash</span>
      <span className="choice-words">
        {offer
          ? ["Needs a draft model", offerSize(offer)].filter(Boolean).join(", ")
          : "Its draft model is here, but not loaded with it"}
      </span>
      {offer && <GetDraftModel offer={offer} subject={about.draftOf(model.path)} short />}
    </div>
  );
}

/** Which guesses stay, where it makes a difference: where words are drawn. */
function RuleChoice() {
  const { sampling } = useGeneration();
  const at = RULES.findIndex(({ rule }) => rule === sampling.acceptance);
  const check = (index: number) => {
    const choice = RULES[index];
    if (choice) changeSampling({ acceptance: choice.rule });
  };
  const { group, radio } = radios("Which guesses stay", at, check);
  if (isGreedy(sampling)) return null;
  return (
    <>
      <div className="segments" {...group}>
        {RULES.map(({ rule, name }, index) => (
          <button
            {...radio(index)}
            key={rule}
            data-testid={`acceptance-${rule}`}
            onClick={() => check(index)}
          >
            {name}
          </button>
        ))}
      </div>
      <p className="popover-note">{RULES[at]?.words}</p>
    </>
  );
}
