import type {
  ErrorReport,
  Job,
  JobStage,
  LibrarySnapshot,
  LocalModel,
  RemoteModel,
} from "../bridge/bindings";
import { t } from "../language/text";
import { why } from "../language/told";
import { sentences } from "../primitives/format";

type Stage = JobStage["stage"];

const RUNNING: readonly Stage[] = [
  "downloading",
  "waiting",
  "verifying",
  "probing",
  "converting",
  "comparing",
  "tuning",
  "moving",
];

/** Work that goes on by itself. */
export const isRunning = ({ stage: { stage } }: Job): boolean => RUNNING.includes(stage);

/** Work that is not at its end, whether it goes on or not. */
export const isOpen = ({ stage: { stage } }: Job): boolean => stage !== "done";

/** Whether it goes on only once somebody does something about it. */
export const isStalled = ({ stage: { stage } }: Job): boolean => stage === "paused" || stage === "failed";

/** How far the job's stage has come, from 0 to 1; null where that is not known. */
export const share = ({ done, total }: Job): number | null => (total > 0 ? Math.min(1, done / total) : null);

/** What the job can be asked to do next, besides ending. */
export type Step = "pause" | "resume" | "retry" | "hurry" | "use";

export function steps({ kind, stage: { stage } }: Job): Step[] {
  switch (stage) {
    case "queued":
    case "held":
    case "downloading":
    case "verifying":
    case "probing":
    case "converting":
    case "comparing":
      return ["pause"];
    case "waiting":
      return ["hurry", "pause"];
    case "paused":
      return ["resume"];
    case "failed":
      return ["retry"];
    case "done":
      return kind === "benchmark" || kind === "probe" || kind === "comparison" ? [] : ["use"];
    case "tuning":
    case "moving":
      return [];
  }
}

/** Whether something is lost that was done already when the job ends now. */
export const losesWork = ({ kind, stage, done }: Job): boolean =>
  stage.stage !== "done" && kind !== "measurement" && kind !== "benchmark" && done > 0;

/** Whether only people whom the owner of a repository has let in get it. */
export const isGated = ({ code }: ErrorReport): boolean => code.startsWith("gated_");

/** Where in the queue `job` would be after a step up (-1) or down (1); null if it cannot go there. */
export function moved(jobs: Job[], job: number, step: -1 | 1): number | null {
  const at = jobs.findIndex(({ id }) => id === job);
  const other = jobs[at + step];
  return at >= 0 && other !== undefined && isOpen(other) ? at + step : null;
}

/** What to say about the jobs that ended between two looks at the queue; empty if none did. */
export function endings(before: Job[], after: Job[]): string {
  const said = after
    .filter((job) => before.some(({ id, stage }) => id === job.id && stage.stage !== job.stage.stage))
    .map(({ name, kind, stage }) => {
      if (stage.stage === "failed") return t("model-ended-failed", { name, why: why(stage.error) });
      if (stage.stage !== "done") return "";
      if (kind === "benchmark" || kind === "probe") return t("model-ended-measured", { name });
      if (kind === "comparison") return t("model-ended-compared", { name });
      return kind === "move" ? t("model-ended-moved") : t("model-ended", { name });
    });
  return sentences(...said);
}

/** Where a model of the Hub is: on this machine, on its way, or neither. */
export interface Whereabouts {
  local: LocalModel | null;
  job: Job | null;
}

export function whereabouts(remote: RemoteModel, library: LibrarySnapshot | null): Whereabouts {
  const { models = [], jobs = [] } = library ?? {};
  return {
    local:
      models.find(({ path }) => path === remote.installed) ??
      models.find(({ repo }) => repo === remote.repo) ??
      null,
    job: jobs.find((job) => job.repo === remote.repo && isOpen(job)) ?? null,
  };
}
