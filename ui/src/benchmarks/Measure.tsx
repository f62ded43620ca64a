import { useState } from "react";
import type { TextChoice } from "../bridge/bindings";
import { t } from "../language/text";
import { JobRow } from "../models/JobRow";
import { isOpen } from "../models/jobs";
import { choiceLabel } from "../models/labels";
import { ActionButton } from "../primitives/ActionButton";
import { Icon } from "../primitives/icons";
import { PopoverButton } from "../primitives/PopoverButton";
import { radios } from "../primitives/radios";
import { Segments } from "../primitives/Segments";
import { useStore } from "../state/store";
import { runBenchmark } from "./actions";
import { effort, expectedSeconds, minutesLabel } from "./expected";
import { newestHere } from "./gains";
import { textWords } from "./labels";
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
    shown === null
      ? t("benchmarks-measure.no-model")
      : path === null
        ? t("benchmarks-measure.gone", { name: shown.name })
        : null;
  return (
    <>
      {seconds && (
        <span className="measure-time" data-testid="measure-time">
          {minutesLabel(seconds)}
        </span>
      )}
      <PopoverButton
        label={t("benchmarks-plan")}
        title={t("benchmarks-plan")}
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
        {t("benchmarks-measure")}
      </ActionButton>
    </>
  );
}

const textChoices = (): { name: string; value: TextChoice }[] => [
  { name: t("benchmarks-plan.both"), value: "both" },
  { name: textWords("prose").name, value: "prose" },
  { name: textWords("code").name, value: "code" },
];

/** What is measured of a model, and how thoroughly. */
export function Plan({ shown }: Pick<Props, "shown">) {
  const plan = useBenchmarks((state) => state.plan);
  const { runs, tokens } = effort(plan);
  const local = shown?.local ?? null;
  const texts = textChoices();
  return (
    <>
      <Segments
        label={t("benchmarks-plan.texts")}
        choices={texts}
        at={texts.findIndex(({ value }) => value === plan.texts)}
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
          {t("benchmarks-plan.ahead")}
          <span className="measure-words">
            {t("benchmarks-plan.ways", {
              head: local === null || local.mtp?.state === "present" ? "yes" : "no",
              dflash: local?.draft_model ? "yes" : "no",
            })}
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
          {t("benchmarks-plan.prompt")}
          <span className="measure-words">{t("benchmarks-plan.prompt-words")}</span>
        </span>
      </label>
      <Segments
        label={t("benchmarks-plan.effort")}
        choices={[
          { name: t("benchmarks-plan.quick"), value: false },
          { name: t("benchmarks-plan.thorough"), value: true },
        ]}
        at={plan.thorough ? 1 : 0}
        testId="plan"
        onChoose={(thorough) => setBenchmarks({ plan: { ...plan, thorough } })}
      />
      <p className="popover-note">{t("benchmarks-plan.note", { runs, tokens, texts: plan.texts })}</p>
    </>
  );
}

/** What is being measured. */
export function Running() {
  const jobs = useStore((state) => state.library?.jobs) ?? [];
  const running = jobs.filter((job) => job.kind === "benchmark" && isOpen(job));
  if (running.length === 0) return null;
  return (
    <section className="part" aria-label={t("benchmarks-running")} data-testid="benchmark-jobs">
      <header className="part-head">
        <h2>{t("benchmarks-running")}</h2>
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
  const { group, radio } = radios(t("benchmarks-model"), at, check);
  return (
    <PopoverButton
      label={<span className="model-name">{shown?.name ?? t("benchmarks-model.none")}</span>}
      title={t("benchmarks-model.choose")}
      testId="benchmark-model"
      className="control model-control"
      popupClassName="models"
      side="bottom"
      reason={all.length === 0 ? t("benchmarks-model.missing") : null}
      open={open}
      onOpenChange={setOpen}
    >
      <h2>{t("benchmarks-model")}</h2>
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
              {local === null ? t("benchmarks-model.gone") : choiceLabel(local)}
            </span>
            {index === at && <Icon name="check" />}
          </button>
        ))}
      </div>
    </PopoverButton>
  );
}
