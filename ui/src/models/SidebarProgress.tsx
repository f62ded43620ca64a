import type { Job } from "../bridge/bindings";
import { percent } from "../primitives/format";
import { useStore } from "../state/store";
import { isRunning, share } from "./jobs";
import { stageLabel } from "./labels";

/** What the library is working on, in the sidebar, benchmarks left out. */
export const SidebarProgress = () => <JobProgress isShown={({ kind }) => kind !== "benchmark"} />;

/** The benchmark that is being run, in the sidebar. */
export const BenchmarkProgress = () => <JobProgress isShown={({ kind }) => kind === "benchmark"} />;

/** Some jobs: the name of the one that runs, how far it is, and a slim line. */
function JobProgress({ isShown }: { isShown: (job: Job) => boolean }) {
  const all = useStore((state) => state.library?.jobs);
  const jobs = all?.filter(isShown) ?? [];
  const job = jobs.find(isRunning);
  if (!job) {
    const failed = jobs.find(({ stage }) => stage.stage === "failed");
    const halted = failed ?? jobs.find(({ stage }) => stage.stage === "paused");
    if (!halted) return null;
    return (
      <span className="entry-progress" data-testid="sidebar-progress">
        <span className="entry-words">
          <span className="entry-name">{halted.name}</span>
          <span>{stageLabel(halted.stage)}</span>
          {failed && <span className="failed-dot" />}
        </span>
      </span>
    );
  }
  const part = share(job);
  return (
    <span className="entry-progress" data-testid="sidebar-progress">
      <span className="entry-words numbers">
        <span className="entry-name">{job.name}</span>
        <span className="entry-share">{part === null ? "" : percent(part)}</span>
      </span>
      <progress value={part ?? undefined} aria-label={`${stageLabel(job.stage)}: ${job.name}`} />
    </span>
  );
}
