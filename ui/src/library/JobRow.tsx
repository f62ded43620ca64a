import { type KeyboardEvent, useId, useState } from "react";
import type { Job } from "../bindings";
import { ActionButton } from "../components/ActionButton";
import { Icon } from "../components/icons";
import { PopoverButton } from "../components/PopoverButton";
import { bytes, count, percent } from "../format";
import { useReason } from "../store";
import { about, cancelJob, doStep, loadModel, moveJob } from "./actions";
import { HubError } from "./HubError";
import { isOpen, isRunning, moved, type Step, share, steps } from "./jobs";
import { LibraryError } from "./LibraryError";
import { useCountdown } from "./useCountdown";
import { useSpotlight } from "./useSpotlight";
import { jobNumbers, progressBytes, stageWords } from "./words";

interface Props {
  job: Job;
  /** The whole queue. */
  jobs: Job[];
}

const STEP_NAMES: Record<Exclude<Step, "use">, string> = {
  pause: "Pause",
  resume: "Resume",
  retry: "Try again",
  hurry: "Try now",
};

/** A download or a conversion: how far it has come, and what can be done with it. Alt and an arrow key move it. */
export function JobRow({ job, jobs }: Props) {
  const { id, name, stage, repo } = job;
  const row = useSpotlight<HTMLLIElement>(about.job(id));
  const nameId = useId();
  const move = (step: -1 | 1) => {
    const position = moved(jobs, id, step);
    if (position !== null) moveJob(id, position);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (!event.altKey || (event.key !== "ArrowUp" && event.key !== "ArrowDown")) return;
    event.preventDefault();
    move(event.key === "ArrowUp" ? -1 : 1);
  };
  return (
    <li
      ref={row}
      className="row"
      tabIndex={-1}
      aria-labelledby={nameId}
      data-testid="job"
      onKeyDown={onKeyDown}
    >
      <div className="row-line">
        <div className="row-text">
          <h4 id={nameId} className="row-name" title={repo ?? undefined}>
            {name}
          </h4>
        </div>
        <div className="row-actions">
          {isOpen(job) && jobs.filter(isOpen).length > 1 && <Order job={job} jobs={jobs} onMove={move} />}
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
          <End job={job} />
        </div>
      </div>
      {isOpen(job) && (
        <progress value={share(job) ?? (isRunning(job) ? undefined : 0)} aria-label={stageWords(stage)} />
      )}
      <Numbers job={job} />
      {stage.stage === "waiting" && <Waiting message={stage.error.message} seconds={stage.seconds} />}
      {stage.stage === "failed" && <HubError error={stage.error} testId="job-error" repo={repo} />}
      <LibraryError subject={about.job(id)} repo={repo} />
    </li>
  );
}

/** The line under the bar. Each number has a place of its own, so that none moves another. */
function Numbers({ job }: { job: Job }) {
  const [open, setOpen] = useState(false);
  const filesId = useId();
  const { amount, speed, left } = jobNumbers(job);
  const { files } = job;
  const arrived = files.filter(({ done, total }) => done >= total).length;
  return (
    <>
      <p className="job-numbers numbers">
        <span className="job-stage">{stageWords(job.stage)}</span>
        <span className="job-amount">{amount}</span>
        <span className="job-speed">{speed}</span>
        <span className="job-left">{left}</span>
        {files.length > 0 && (
          <button
            type="button"
            className="disclosure"
            aria-expanded={open}
            aria-controls={filesId}
            data-testid="job-files-toggle"
            onClick={() => setOpen(!open)}
          >
            <Icon name="right" />
            {count(arrived)} of {count(files.length)} files
          </button>
        )}
      </p>
      {open && (
        <ul
          id={filesId}
          className="job-files numbers"
          // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable with the keyboard
          tabIndex={0}
          aria-label="Files"
          data-testid="job-files"
        >
          {files.map(({ name, done, total }) => (
            <li key={name}>
              <span className="file-name">{name}</span>
              <span>{done >= total ? bytes(total) : progressBytes(done, total)}</span>
              <span className="file-share">{percent(total > 0 ? done / total : 1)}</span>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

function Waiting({ message, seconds }: { message: string; seconds: number }) {
  const left = useCountdown(seconds);
  return (
    <p className="row-words numbers" data-testid="job-waiting">
      {message} What arrived is kept. {left > 0 ? `The next try is in ${left} s.` : "Trying again."}
    </p>
  );
}

function Order({ job, jobs, onMove }: Props & { onMove: (step: -1 | 1) => void }) {
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

function UseResult({ job: { id, name, stage } }: { job: Job }) {
  const reason = useReason("open");
  if (stage.stage !== "done") return null;
  return (
    <ActionButton
      className="button"
      aria-label={`Use: ${name}`}
      data-testid="job-use"
      reason={reason}
      onClick={() => loadModel(stage.path, about.job(id))}
    >
      Use
    </ActionButton>
  );
}

/** Takes a job off the queue. Where work would be lost, it asks first. */
function End({ job: { id, name, repo, stage, done } }: { job: Job }) {
  const [open, setOpen] = useState(false);
  if (stage.stage === "done" || stage.stage === "tuning" || done === 0) {
    const words = stage.stage === "done" ? "Dismiss" : stage.stage === "tuning" ? "Skip" : "Cancel";
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
        {repo !== null
          ? `The files of ${name} that arrived are removed. To keep them and go on later, pause it.`
          : `The conversion of ${name} is given up. The original stays.`}
      </p>
      <div className="popover-foot">
        <button type="button" className="button" data-testid="job-cancel-now" onClick={() => cancelJob(id)}>
          {repo !== null ? "Cancel the download" : "Cancel the conversion"}
        </button>
      </div>
    </PopoverButton>
  );
}
