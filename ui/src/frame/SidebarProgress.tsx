import { openBenchmarks } from "../benchmarks/actions";
import type { Job } from "../bridge/bindings";
import { t } from "../language/text";
import { openModels } from "../models/actions";
import { isRunning, share } from "../models/jobs";
import { line, stageLabel } from "../models/labels";
import { percent } from "../primitives/format";
import { useStore } from "../state/store";

/** What is being worked on, in the sidebar: a line for what the library does, and one for a benchmark. */
export function SidebarProgress() {
  const jobs = useStore((state) => state.library?.jobs) ?? [];
  const benchmarks = jobs.filter(({ kind }) => kind === "benchmark");
  const others = jobs.filter(({ kind }) => kind !== "benchmark");
  return (
    <>
      <JobProgress jobs={others} open={openModels} />
      <JobProgress jobs={benchmarks} open={openBenchmarks} />
    </>
  );
}

/** How long something still takes, in two words; nothing where that is a matter of seconds. */
function briefly(seconds: number | null): string {
  const minutes = Math.round((seconds ?? 0) / 60);
  if (minutes === 0) return "";
  return minutes < 60
    ? t("frame-minutes-left", { minutes })
    : t("frame-hours-left", { hours: Math.round(minutes / 60) });
}

/** Some jobs: the name of the one that runs, how far it is, and a slim bar; or of one that stands still, and why. */
function JobProgress({ jobs, open }: { jobs: Job[]; open: () => void }) {
  const running = jobs.find(isRunning);
  const failed = jobs.find(({ stage }) => stage.stage === "failed");
  const job = running ?? failed ?? jobs.find(({ stage }) => stage.stage === "paused");
  if (!job) return null;
  const part = running ? share(job) : null;
  const state = running
    ? line(part !== null && percent(part), briefly(job.seconds_left))
    : stageLabel(job.stage);
  return (
    <button type="button" className="sidebar-progress" data-testid="sidebar-progress" onClick={open}>
      <span className="progress-words numbers">
        <span className="progress-name">{job.name}</span>
        <span className="progress-share">{state}</span>
        {job === failed && <span className="failed-dot" />}
      </span>
      {running && (
        <progress
          value={part ?? undefined}
          aria-label={t("frame-progress", { stage: stageLabel(job.stage), name: job.name })}
        />
      )}
    </button>
  );
}
