import type { ErrorReport, Job } from "../bridge/bindings";
import { noteKind } from "../frame/noteKind";
import { SignedNote } from "../frame/SignedNote";
import { JobRemedy } from "./JobActions";
import { useCountdown } from "./useCountdown";

/** Why a job does not go on, and when it is tried again. */
export function JobWaiting({ job, error, seconds }: { job: Job; error: ErrorReport; seconds: number }) {
  const left = useCountdown(seconds);
  const next = left > 0 ? `The next try is in ${left} s.` : "Trying again.";
  return (
    <SignedNote
      kind={noteKind(error.code)}
      message={error.message}
      hint={`What arrived is kept. ${next}`}
      actions={<JobRemedy job={job} />}
      testId="job-waiting"
    />
  );
}
