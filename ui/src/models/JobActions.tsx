import { useState } from "react";
import type { Job } from "../bridge/bindings";
import { ActionButton } from "../primitives/ActionButton";
import { Icon } from "../primitives/icons";
import { PopoverButton } from "../primitives/PopoverButton";
import { useReason, useStore } from "../state/store";
import { about, cancelJob, doStep, loadModel } from "./actions";
import { moved, type Step, steps } from "./jobs";

const STEP_NAMES: Record<Exclude<Step, "use">, string> = {
  pause: "Pause",
  resume: "Resume",
  retry: "Try again",
  hurry: "Try now",
};

/** What can be done with a job, besides moving it. */
export function JobActions({ job }: { job: Job }) {
  const { id, name } = job;
  return (
    <>
      {steps(job).map((step) =>
        step === "use" ? (
          <UseResult key={step} job={job} />
        ) : (
          <button
            key={step}
            type="button"
            className="button"
            aria-label={`${STEP_NAMES[step]}: ${name}`}
            data-testid={`job-${step}`}
            onClick={() => doStep(id, step)}
          >
            {STEP_NAMES[step]}
          </button>
        ),
      )}
      <JobEnd job={job} />
    </>
  );
}

interface OrderProps {
  job: Job;
  /** The whole queue. */
  jobs: Job[];
  onMove: (step: -1 | 1) => void;
}

/** Moves a job up and down the queue. */
export function JobOrder({ job, jobs, onMove }: OrderProps) {
  const button = (step: -1 | 1, words: string, icon: "earlier" | "down") => (
    <ActionButton
      className="icon-button"
      aria-label={`${words}: ${job.name}`}
      title={`${words} (Alt and an arrow key)`}
      data-testid={step < 0 ? "job-earlier" : "job-later"}
      reason={moved(jobs, job.id, step) === null ? (step < 0 ? "It is the first." : "It is the last.") : null}
      onClick={() => onMove(step)}
    >
      <Icon name={icon} />
    </ActionButton>
  );
  return (
    <>
      {button(-1, "Move up", "earlier")}
      {button(1, "Move down", "down")}
    </>
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

/** Takes a job off the queue. Where work would be lost, it asks first. */
function JobEnd({ job }: { job: Job }) {
  const { id, name, repo, kind, stage } = job;
  const [open, setOpen] = useState(false);
  const ended = stage.stage === "done";
  // A question that is being read stays, whatever the numbers do in the meantime.
  const measures = kind === "measurement" || kind === "benchmark";
  const asks = !ended && !measures && (open || job.done > 0);
  if (!asks) {
    const words = ended ? "Dismiss" : kind === "measurement" && repo !== null ? "Skip" : "Cancel";
    return (
      <button
        type="button"
        className="button"
        aria-label={`${words}: ${name}`}
        data-testid="job-cancel"
        onClick={() => cancelJob(id)}
      >
        {words}
      </button>
    );
  }
  const downloads = kind === "download";
  return (
    <PopoverButton
      label="Cancel"
      title={`Cancel ${name}`}
      testId="job-cancel"
      className="button"
      side="bottom"
      chevron={false}
      open={open}
      onOpenChange={setOpen}
    >
      <p>
        {downloads
          ? `The files of ${name} that arrived are removed. To keep them and go on later, pause it.`
          : `What was done for ${name} so far is given up. The originals stay.`}
      </p>
      <div className="popover-foot">
        <button
          type="button"
          className="button"
          data-testid="job-cancel-now"
          onClick={() => {
            setOpen(false);
            cancelJob(id);
          }}
        >
          {downloads ? "Cancel the download" : "Cancel it"}
        </button>
      </div>
    </PopoverButton>
  );
}
