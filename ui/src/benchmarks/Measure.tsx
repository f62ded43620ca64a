import { useState } from "react";
import type { TextChoice } from "../bridge/bindings";
import { JobRow } from "../models/JobRow";
import { isOpen } from "../models/jobs";
import { choiceLabel } from "../models/labels";
import { ActionButton } from "../primitives/ActionButton";
import { count } from "../primitives/format";
import { Icon } from "../primitives/icons";
import { PopoverButton } from "../primitives/PopoverButton";
import { radios } from "../primitives/radios";
import { Segments } from "../primitives/Segments";
import { useStore } from "../state/store";
import { runBenchmark } from "./actions";
import { effort, expectedSeconds, minutesLabel } from "./expected";
import { newestHere } from "./gains";
import type { Subject } from "./models";
import { setBenchmarks, useBenchmarks } from "./store";

interface Props {
  all: Subject[];
  shown: Subject | null;
}

/** Says what is measured, and measures it. */
export function Measure({ shown }: Pick<Props, "shown">) {
  const history = useBenchmarks((state) => state.history);
  const plan = useBenchmarks((state) => state.plan);
  const local = shown?.local ?? null;
  const path = local?.path ?? null;
  const before = history && local && newestHere(history, local.name, local.format);
  const seconds = local && before && expectedSeconds(plan, local, before);
  const reason =
    shown === null ? "No model is here." : path === null ? `${shown.name} is not here any more.` : null;
  return (
    <>
      {seconds && (
        <span className="measure-time" data-testid="measure-time">
          {minutesLabel(seconds)}
        </span>
      )}
      <PopoverButton
        label="What to measure"
        title="What to measure"
        testId="measure-what"
        side="bottom"
        className="button"
        popupClassName="measure"
      >
        <Plan shown={shown} />
      </PopoverButton>
      <ActionButton
        className="button primary"
        data-testid="run-benchmark"
        reason={reason}
        onClick={() => path !== null && runBenchmark(path)}
      >
        Measure
      </ActionButton>
    </>
  );
}

const TEXT_CHOICES: { name: string; value: TextChoice }[] = [
  { name: "Prose and code", value: "both" },
  { name: "Prose", value: "prose" },
  { name: "Code", value: "code" },
];

/** What is measured of a model, and how thoroughly. */
export function Plan({ shown }: Pick<Props, "shown">) {
  const plan = useBenchmarks((state) => state.plan);
  const { runs, tokens } = effort(plan);
  const local = shown?.local ?? null;
  const ways = [
    (local === null || local.mtp?.state === "present") && "1, 2 and 3 ahead",
    local?.draft_model && "DFlash",
    "Look-up",
  ].filter(Boolean);
  return (
    <>
      <Segments
        label="What is written"
        choices={TEXT_CHOICES}
        at={TEXT_CHOICES.findIndex(({ value }) => value === plan.texts)}
        testId="plan-texts"
        onChoose={(texts) => setBenchmarks({ plan: { ...plan, texts } })}
      />
      <label className="check">
        <input
          type="checkbox"
          checked={plan.drafts}
          data-testid="plan-drafts"
          onChange={(event) => setBenchmarks({ plan: { ...plan, drafts: event.target.checked } })}
        />
        <span>
          Guessing ahead
          <span className="measure-words">{`Plain decoding against ${ways.join(", ")}, and Auto`}</span>
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
      <Segments
        label="How long it takes"
        choices={[
          { name: "Quick", value: false },
          { name: "Thorough", value: true },
        ]}
        at={plan.thorough ? 1 : 0}
        testId="plan"
        onChoose={(thorough) => setBenchmarks({ plan: { ...plan, thorough } })}
      />
      <p className="popover-note">
        {`${count(runs)} runs of ${count(tokens)} tokens each way${plan.texts === "both" ? ", of prose and of code" : ""}.`}{" "}
        It runs while no reply is being written, and the chat goes first.
      </p>
    </>
  );
}

/** What is being measured. */
export function Running() {
  const jobs = useStore((state) => state.library?.jobs) ?? [];
  const running = jobs.filter((job) => job.kind === "benchmark" && isOpen(job));
  if (running.length === 0) return null;
  return (
    <section className="part" aria-label="Being measured" data-testid="benchmark-jobs">
      <header className="part-head">
        <h2>Being measured</h2>
      </header>
      <ul className="rows">
        {running.map((job) => (
          <JobRow key={job.id} job={job} jobs={jobs} />
        ))}
      </ul>
    </section>
  );
}

/** Chooses the model that is measured, and whose results are shown. */
export function ModelChoice({ all, shown }: Props) {
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
