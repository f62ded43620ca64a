import { percent } from "../format";
import { useStore } from "../store";
import { isRunning, share } from "./jobs";
import { stageWords } from "./words";

/** What the library is working on, in the sidebar: the name, how far it is, and a slim line. */
export function SidebarProgress() {
  const jobs = useStore((state) => state.library?.jobs);
  const job = jobs?.find(isRunning);
  if (!job) {
    const failed = jobs?.find(({ stage }) => stage.stage === "failed");
    const halted = failed ?? jobs?.find(({ stage }) => stage.stage === "paused");
    if (!halted) return null;
    return (
      <span className="entry-progress" data-testid="sidebar-progress">
        <span className="entry-words">
          <span className="entry-name">{halted.name}</span>
          <span>{stageWords(halted.stage)}</span>
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
      <progress value={part ?? undefined} aria-label={`${stageWords(job.stage)}: ${job.name}`} />
    </span>
  );
}
