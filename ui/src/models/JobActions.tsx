import type { Job } from "../bridge/bindings";
import { ActionButton } from "../primitives/ActionButton";
import { Icon } from "../primitives/icons";
import { MenuButton, type MenuEntry } from "../primitives/MenuButton";
import { useReason, useStore } from "../state/store";
import { about, cancelJob, doStep, loadModel } from "./actions";
import { isOpen, losesWork, moved, type Step, steps } from "./jobs";

const STEP_NAMES: Record<Exclude<Step, "use">, string> = {
  pause: "Pause",
  resume: "Resume",
  retry: "Try again",
  hurry: "Try now",
};

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
  const { id, name, stage } = job;
  const damaged = stage.stage === "failed" && stage.error.code === "download_corrupt";
  const words = step === "retry" && damaged ? "Fetch it again" : STEP_NAMES[step];
  return (
    <button
      type="button"
      className="button"
      aria-label={`${words}: ${name}`}
      data-testid={`job-${step}`}
      onClick={() => doStep(id, step)}
    >
      {words}
    </button>
  );
}

/** Moves a job up and down the queue, and ends it. */
function More({ job, jobs, onMove, onAsk }: Props) {
  const order = (step: -1 | 1, name: string): MenuEntry => ({
    name,
    keys: step < 0 ? "Alt ↑" : "Alt ↓",
    reason: moved(jobs, job.id, step) === null ? (step < 0 ? "It is the first" : "It is the last") : null,
    onSelect: () => onMove(step),
  });
  const entries = jobs.filter(isOpen).length > 1 ? [order(-1, "Move up"), order(1, "Move down")] : [];
  if (endName(job) === null)
    entries.push({
      name: losesWork(job) ? "Cancel…" : "Cancel",
      reason: null,
      onSelect: () => (losesWork(job) ? onAsk() : cancelJob(job.id)),
    });
  if (entries.length === 0) return null;
  return (
    <MenuButton label={`More for ${job.name}`} testId="job-more" entries={entries}>
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
      aria-label={`Use: ${name}`}
      data-testid="job-use"
      reason={reason}
      onClick={() => loadModel(path, about.job(id))}
    >
      Use
    </ActionButton>
  );
}

/** What ends a job where that never loses anything: one that has ended, or a measurement. */
function endName({ kind, repo, stage }: Job): string | null {
  if (stage.stage === "done") return "Dismiss";
  if (kind === "measurement" && repo !== null) return "Skip";
  return kind === "measurement" || kind === "benchmark" ? "Cancel" : null;
}

/** Takes a job off the queue where nothing is lost by it. */
function JobEnd({ job }: { job: Job }) {
  const words = endName(job);
  if (words === null) return null;
  return (
    <button
      type="button"
      className="button"
      aria-label={`${words}: ${job.name}`}
      data-testid="job-cancel"
      onClick={() => cancelJob(job.id)}
    >
      {words}
    </button>
  );
}
