import { type KeyboardEvent, useId, useState } from "react";
import type { Job } from "../bridge/bindings";
import { useSpotlight } from "../frame/useSpotlight";
import { about, moveJob } from "./actions";
import { HubError } from "./HubError";
import { JobActions, JobRemedy } from "./JobActions";
import { JobCancel } from "./JobCancel";
import { JobNumbers } from "./JobNumbers";
import { JobWaiting } from "./JobWaiting";
import { isOpen, isRunning, moved, share } from "./jobs";
import { LibraryError } from "./LibraryError";
import { holdSentence, stageLabel, stateLabel } from "./labels";

interface Props {
  job: Job;
  /** The whole queue. */
  jobs: Job[];
}

/** A download or a conversion: how far it has come, and what can be done with it. Alt and an arrow key move it. */
export function JobRow({ job, jobs }: Props) {
  const { id, name, stage, repo } = job;
  const row = useSpotlight<HTMLLIElement>(about.job(id));
  const nameId = useId();
  const [asking, setAsking] = useState(false);
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
      className="row model-row"
      tabIndex={-1}
      aria-labelledby={nameId}
      data-testid="job"
      onKeyDown={onKeyDown}
    >
      <div className="row-line">
        <div className="row-text">
          <div className="model-title">
            <h3 id={nameId} className="row-name" title={repo ?? undefined}>
              {name}
            </h3>
            <span className="job-stage">{stateLabel(job)}</span>
          </div>
          {isOpen(job) && (
            <progress value={share(job) ?? (isRunning(job) ? undefined : 0)} aria-label={stageLabel(stage)} />
          )}
          <JobNumbers job={job} />
        </div>
        <div className="row-actions">
          <JobActions job={job} jobs={jobs} onMove={move} onAsk={() => setAsking(true)} />
        </div>
      </div>
      {asking && isOpen(job) && <JobCancel job={job} onClose={() => setAsking(false)} />}
      {stage.stage === "waiting" && <JobWaiting job={job} error={stage.error} seconds={stage.seconds} />}
      {stage.stage === "held" && (
        <p className="row-words numbers" data-testid="job-held">
          {holdSentence(stage.by)}
        </p>
      )}
      {job.note !== null && (
        <p className="row-words" data-testid="job-note">
          {job.note}
        </p>
      )}
      {stage.stage === "failed" && (
        <HubError error={stage.error} testId="job-error" repo={repo} actions={<JobRemedy job={job} />} />
      )}
      <LibraryError subject={about.job(id)} repo={repo} />
    </li>
  );
}
