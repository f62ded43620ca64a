import { Fragment, useState } from "react";
import { loadHistory } from "../benchmarks/actions";
import { gainOf, useWaysHere } from "../benchmarks/gains";
import { axisOf, Bar, placeOn } from "../benchmarks/Ranges";
import { times, type Way } from "../benchmarks/verdict";
import type { AcceptanceRule, Drafting, ModelInfo, Spread } from "../bridge/bindings";
import { RichText } from "../language/RichText";
import { t } from "../language/text";
import { about } from "../models/actions";
import { GetDraftModel } from "../models/DraftModels";
import { offerSize } from "../models/draftModels";
import { LibraryError } from "../models/LibraryError";
import { draftingName, isGreedy, mtpChip } from "../primitives/format";
import { Glyph } from "../primitives/Glyph";
import { Icon } from "../primitives/icons";
import { PopoverButton } from "../primitives/PopoverButton";
import { radios } from "../primitives/radios";
import { useDraftingNote, useGeneration, useModel, useStore } from "../state/store";
import { changeSampling, changeSettings } from "./settings";

/** How far the model can be let guess ahead, here and in the settings. */
export function draftingChoices(): { name: string; words: string; drafting: Drafting }[] {
  const choice = (drafting: Drafting, words: string) => ({ name: draftingName(drafting), words, drafting });
  return [
    choice({ mode: "auto" }, t("chat-way.auto")),
    choice({ mode: "off" }, t("chat-way.off")),
    ...[1, 2, 3].map((depth) => choice({ mode: "fixed", depth }, t("chat-way.fixed", { count: depth }))),
    choice({ mode: "dflash", depth: null }, t("chat-way.dflash")),
    choice({ mode: "lookup" }, t("chat-way.lookup")),
  ];
}

const acceptanceRules = (): { rule: AcceptanceRule; name: string; words: string }[] => [
  { rule: "coupled", name: t("chat-rule-coupled"), words: t("chat-rule-coupled.words") },
  { rule: "strict", name: t("chat-rule-strict"), words: t("chat-rule-strict.words") },
  { rule: "rejection", name: t("chat-rule-rejection"), words: t("chat-rule-rejection.words") },
];

/** What tests know a choice by. */
const choiceId = (drafting: Drafting): string =>
  drafting.mode === "fixed" ? `${drafting.depth}` : drafting.mode === "lookup" ? "look-up" : drafting.mode;

/** How far ahead the glyph of a setting guesses. */
const glyphGuesses = (drafting: Drafting): number =>
  drafting.mode === "fixed" ? drafting.depth : drafting.mode === "dflash" ? 3 : 2;

const term = (words: string) => <span className="term">{words}</span>;

/** How far the model guesses ahead. */
export function MtpControl() {
  const { drafting } = useGeneration();
  const model = useModel();
  const chip = mtpChip(drafting, model, useDraftingNote());
  const [open, setOpen] = useState(false);
  const ways = useWaysHere(model);
  const current = draftingName(drafting);

  const hasDraftModel = model !== null && model.draft_model !== null;
  const choices = draftingChoices().filter(
    ({ drafting: { mode } }) => (chip.hasHead || mode !== "fixed") && (hasDraftModel || mode !== "dflash"),
  );
  const firstFixed = choices.findIndex(({ drafting: { mode } }) => mode === "fixed");
  const at = choices.findIndex((choice) => choice.name === current);
  const check = (index: number) => {
    const choice = choices[index];
    if (choice) changeSettings({ drafting: choice.drafting });
  };
  const { group, radio } = radios(t("chat-mtp.drafts"), at, check);

  return (
    <PopoverButton
      label={
        <>
          <Glyph guesses={chip.words === null ? glyphGuesses(drafting) : 0} />
          <span>
            <span className="chip-kind">MTP </span>
            <strong>{chip.setting}</strong>
            {chip.words && ` · ${chip.words}`}
          </span>
        </>
      }
      title={t("chat-mtp.title")}
      testId="mtp-control"
      popupClassName="mtp"
      hint={chip.why}
      open={open}
      onOpenChange={(next) => {
        setOpen(next);
        // What was measured here is told where it decides something.
        if (next) loadHistory();
      }}
    >
      <h2 className="ways-head">
        <span>
          <RichText id="chat-mtp" parts={{ term }} />
        </span>
        {ways.length > 1 && <span className="term ways-unit">{t("chat-mtp.unit")}</span>}
      </h2>
      <div className="ways" {...group}>
        {choices.map((choice, index) => (
          <Fragment key={choice.name}>
            {index === firstFixed && (
              <p className="own-head">
                <RichText id="chat-mtp.own-head" parts={{ term }} />
              </p>
            )}
            {choice.drafting.mode === "lookup" && model && !hasDraftModel && (
              <MissingDraftModel model={model} />
            )}
            <button
              {...radio(index)}
              className={choice.drafting.mode === "fixed" ? "way fixed" : "way"}
              data-testid={`mtp-option-${choiceId(choice.drafting)}`}
              aria-label={choice.drafting.mode === "fixed" ? choice.name : undefined}
              onClick={() => {
                check(index);
                setOpen(false);
              }}
            >
              {choice.drafting.mode === "fixed" ? (
                <>
                  <span className="fixed-words">
                    <Glyph guesses={choice.drafting.depth} />
                    {choice.words}
                  </span>
                  <GainWords gain={gainOf(choice.drafting, ways)} />
                </>
              ) : (
                <>
                  <span className="way-check">{index === at && <Icon name="check" />}</span>
                  <span className="way-name">{choice.name}</span>
                  <span className="way-words">{choice.words}</span>
                  <Gain drafting={choice.drafting} ways={ways} />
                </>
              )}
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
      <p className="popover-note last">{t("chat-mtp.note")}</p>
    </PopoverButton>
  );
}

/** How fast a way is, on the axis that all of them share; nothing where that was not measured. */
function Gain({ drafting, ways }: { drafting: Drafting; ways: readonly Way[] }) {
  const off = drafting.mode === "off" && ways.length > 1;
  const gain = off ? { min: 1, median: 1, max: 1 } : gainOf(drafting, ways);
  if (gain === null) return null;
  return (
    <>
      <span className="way-bar range-place" aria-hidden="true">
        <Bar gain={gain} plain={off} best place={placeOn(axisOf(ways))} />
      </span>
      <GainWords gain={gain} />
    </>
  );
}

/** The same in words: `1.4–1.6×`. */
function GainWords({ gain }: { gain: Spread | null }) {
  if (gain === null) return null;
  const [low, high] = [times(gain.min), times(gain.max)];
  return (
    <span className="way-gain numbers">
      {gain.min === 1 && gain.max === 1 ? "1×" : low === high ? `${low}×` : `${low}–${high}×`}
    </span>
  );
}

/** Stands for DFlash where no draft model is loaded: it can be got, or is used soon. Nothing where none is known. */
function MissingDraftModel({ model }: { model: ModelInfo }) {
  const local = useStore((state) => state.library?.models.find(({ path }) => path === model.path));
  const offer = local?.draft_model_offer ?? null;
  if (offer === null && !local?.draft_model) return null;
  const size = offer && offerSize(offer);
  return (
    <div className="way missing" data-testid="mtp-missing-dflash">
      <span className="way-name">DFlash</span>
      <span className="way-words">
        {offer === null
          ? t("chat-needs-draft.not-loaded")
          : size === null
            ? t("chat-needs-draft")
            : t("chat-needs-draft.of", { size })}
      </span>
      {offer && <GetDraftModel offer={offer} subject={about.draftOf(model.path)} short />}
    </div>
  );
}

/** Which guesses stay; where no words are drawn, only rounding can make a difference. */
function RuleChoice() {
  const { sampling } = useGeneration();
  const rules = acceptanceRules().filter(({ rule }) => rule !== "rejection" || !isGreedy(sampling));
  const at = Math.max(
    rules.findIndex(({ rule }) => rule === sampling.acceptance),
    0,
  );
  const check = (index: number) => {
    const choice = rules[index];
    if (choice) changeSampling({ acceptance: choice.rule });
  };
  const { group, radio } = radios(t("chat-rule"), at, check);
  return (
    <section className="stays" aria-label={t("chat-rule")}>
      <p>{t("chat-rule")}</p>
      <div className="segments" {...group}>
        {rules.map(({ rule, name }, index) => (
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
      <p className="popover-note">{rules[at]?.words}</p>
    </section>
  );
}
