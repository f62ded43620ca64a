import { useState } from "react";
import { JobRow } from "../models/JobRow";
import { isOpen } from "../models/jobs";
import { choiceLabel } from "../models/labels";
import { ActionButton } from "../primitives/ActionButton";
import { Icon } from "../primitives/icons";
import { PopoverButton } from "../primitives/PopoverButton";
import { radios } from "../primitives/radios";
import { useStore } from "../state/store";
import { runBenchmark } from "./actions";
import type { Subject } from "./models";
import { setBenchmarks, useBenchmarks } from "./store";

interface Props {
  all: Subject[];
  shown: Subject | null;
}

/** Chooses a model and what to measure of it, and follows what is being measured. */
export function Measure({ all, shown }: Props) {
  const jobs = useStore((state) => state.library?.jobs) ?? [];
  const plan = useBenchmarks((state) => state.plan);
  const running = jobs.filter((job) => job.kind === "benchmark" && isOpen(job));
  const path = shown?.local?.path ?? null;
  const reason =
    shown === null ? "No model is here." : path === null ? `${shown.name} is not here any more.` : null;
  const hasHead = shown?.local?.mtp?.state === "present";
  const canDraft = hasHead || (shown?.local?.draft_model ?? null) !== null;
  const drafters = [(hasHead || !canDraft) && "1, 2 and 3 drafts", shown?.local?.draft_model && "DFlash"]
    .filter(Boolean)
    .join(", ");
  const check = (index: number) => setBenchmarks({ plan: { ...plan, thorough: index === 1 } });
  const { group, radio } = radios("How long it takes", plan.thorough ? 1 : 0, check);
  return (
    <section className="part" aria-label="Measure">
      <header className="part-head">
        <h2>Measure</h2>
        <span className="spring" />
        <ModelChoice all={all} shown={shown} />
      </header>
      <div className="measure">
        <div className="measure-what">
          <label className="check">
            <input
              type="checkbox"
              checked={plan.drafts && canDraft}
              disabled={!canDraft}
              data-testid="plan-drafts"
              onChange={(event) => setBenchmarks({ plan: { ...plan, drafts: event.target.checked } })}
            />
            <span>
              Drafts
              <span className="measure-words">
                {canDraft || shown === null
                  ? `Plain decoding against ${drafters}, and Auto`
                  : "This model has neither an MTP head nor a draft model to draft with"}
              </span>
            </span>
          </label>
          <label className="check">
            <input
              type="checkbox"
              checked={plan.prompt}
              data-testid="plan-prompt"
              onChange={(event) => setBenchmarks({ plan: { ...plan, prompt: event.target.checked } })}
            />
            <span>
              A long prompt
              <span className="measure-words">How fast it is read, and the memory it takes</span>
            </span>
          </label>
        </div>
        <div className="measure-run">
          <div className="segments" {...group}>
            {["Quick", "Thorough"].map((name, index) => (
              <button
                {...radio(index)}
                key={name}
                data-testid={`plan-${name.toLowerCase()}`}
                onClick={() => check(index)}
              >
                {name}
              </button>
            ))}
          </div>
          <ActionButton
            className="button primary"
            data-testid="run-benchmark"
            reason={reason}
            onClick={() => path !== null && runBenchmark(path)}
          >
            Measure
          </ActionButton>
        </div>
      </div>
      <p className="part-note">
        {plan.thorough ? "Five runs of 256 tokens at each depth." : "Three runs of 64 tokens at each depth."}{" "}
        It runs while no reply is being written, and the chat goes first.
      </p>
      {running.length > 0 && (
        <ul className="rows" data-testid="benchmark-jobs">
          {running.map((job) => (
            <JobRow key={job.id} job={job} jobs={jobs} />
          ))}
        </ul>
      )}
    </section>
  );
}

function ModelChoice({ all, shown }: Props) {
  const [open, setOpen] = useState(false);
  const at = all.findIndex(({ key }) => key === shown?.key);
  const check = (index: number) => setBenchmarks({ model: all[index]?.key ?? null, shown: null });
  const { group, radio } = radios("Model", at, check);
  return (
    <PopoverButton
      label={<span className="model-name">{shown?.name ?? "No model"}</span>}
      title="The model to measure"
      testId="benchmark-model"
      className="control model-control"
      popupClassName="models"
      side="bottom"
      reason={all.length === 0 ? "No model is here yet." : null}
      open={open}
      onOpenChange={setOpen}
    >
      <h2>Model</h2>
      <div className="choices" {...group}>
        {all.map(({ key, name, local }, index) => (
          <button
            {...radio(index)}
            key={key}
            className="choice model-choice"
            data-testid="benchmark-model-option"
            onClick={() => {
              check(index);
              setOpen(false);
            }}
          >
            <span className="choice-name">{name}</span>
            <span className="choice-words">
              {local === null ? "Only in the history" : choiceLabel(local)}
            </span>
            {index === at && <Icon name="check" />}
          </button>
        ))}
      </div>
    </PopoverButton>
  );
}
