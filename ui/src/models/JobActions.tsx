import type { Job } from "../bridge/bindings";
import { t } from "../language/text";
import { ActionButton } from "../primitives/ActionButton";
import { Icon } from "../primitives/icons";
import { MenuButton, type MenuEntry } from "../primitives/MenuButton";
import { useReason, useStore } from "../state/store";
import { about, cancelJob, doStep, loadModel } from "./actions";
import { isOpen, losesWork, moved, type Step, steps } from "./jobs";

function stepName(step: Exclude<Step, "use">, { stage }: Job): string {
  switch (step) {
    case "pause":
      return t("models-job-pause");
    case "resume":
      return t("models-job-resume");
    case "retry": {
      const damaged = stage.stage === "failed" && stage.error.code === "download_corrupt";
      return t(damaged ? "models-job-fetch-again" : "models-job-retry");
    }
    case "hurry":
      return t("models-job-hurry");
  }
}

interface Props {
  job: Job;
  /** The whole queue. */
  jobs: Job[];
  onMove: (step: -1 | 1) => void;
  /** The job is to end, and work would be lost. */
  onAsk: () => void;
}

/** What can be done with a job. */
export function JobActions({ job, jobs, onMove, onAsk }: Props) {
  return (
    <>
      {steps(job)
        .filter((step) => !isRemedy(step))
        .map((step) =>
          step === "use" ? (
            <UseResult key={step} job={job} />
          ) : (
            <StepButton key={step} job={job} step={step} />
          ),
        )}
      <JobEnd job={job} />
      {isOpen(job) && <More job={job} jobs={jobs} onMove={onMove} onAsk={onAsk} />}
    </>
  );
}

/** What helps a job that does not go on: it stands beside the reason. */
const isRemedy = (step: Step): boolean => step === "retry" || step === "hurry";

/** Lets a job that does not go on try again: once what was wrong is put right, or sooner than it would by itself. */
export function JobRemedy({ job }: { job: Job }) {
  const step = steps(job).find(isRemedy);
  return step === undefined || step === "use" ? null : <StepButton job={job} step={step} />;
}

function StepButton({ job, step }: { job: Job; step: Exclude<Step, "use"> }) {
  const { id, name } = job;
  const words = stepName(step, job);
  return (
    <button
      type="button"
      className="button"
      aria-label={t("models-action-of", { action: words, name })}
      data-testid={`job-${step}`}
      onClick={() => doStep(id, step)}
    >
      {words}
    </button>
  );
}

/** Moves a job up and down the queue, and ends it. */
function More({ job, jobs, onMove, onAsk }: Props) {
  const order = (step: -1 | 1): MenuEntry => ({
    name: t(step < 0 ? "models-job-up" : "models-job-down"),
    keys: step < 0 ? "Alt ↑" : "Alt ↓",
    reason:
      moved(jobs, job.id, step) === null ? t(step < 0 ? "models-job-up.none" : "models-job-down.none") : null,
    onSelect: () => onMove(step),
  });
  const entries = jobs.filter(isOpen).length > 1 ? [order(-1), order(1)] : [];
  if (endName(job) === null)
    entries.push({
      name: t(losesWork(job) ? "models-job-cancel.asking" : "models-job-cancel"),
      reason: null,
      onSelect: () => (losesWork(job) ? onAsk() : cancelJob(job.id)),
    });
  if (entries.length === 0) return null;
  return (
    <MenuButton label={t("models-more-for", { name: job.name })} testId="job-more" entries={entries}>
      <Icon name="more" />
    </MenuButton>
  );
}

/** Leads to the model that came of a job; a move brings none. */
function UseResult({ job: { id, name, stage } }: { job: Job }) {
  const reason = useReason("open");
  const path = stage.stage === "done" ? stage.path : null;
  const there = useStore((state) =>
    state.library?.models.some((model) => model.path === path && model.state.state === "ready"),
  );
  if (path === null || !there) return null;
  return (
    <ActionButton
      className="button"
      aria-label={t("models-action-of", { action: t("models-use"), name })}
      data-testid="job-use"
      reason={reason}
      onClick={() => loadModel(path, about.job(id))}
    >
      {t("models-use")}
    </ActionButton>
  );
}

/** What ends a job where that never loses anything: one that has ended, or a measurement. */
function endName({ kind, repo, stage }: Job): string | null {
  if (stage.stage === "done") return t("models-job-dismiss");
  if (kind === "measurement" && repo !== null) return t("models-job-skip");
  return kind === "measurement" || kind === "benchmark" ? t("models-job-cancel") : null;
}

/** Takes a job off the queue where nothing is lost by it. */
function JobEnd({ job }: { job: Job }) {
  const words = endName(job);
  if (words === null) return null;
  return (
    <button
      type="button"
      className="button"
      aria-label={t("models-action-of", { action: words, name: job.name })}
      data-testid="job-cancel"
      onClick={() => cancelJob(job.id)}
    >
      {words}
    </button>
  );
}
