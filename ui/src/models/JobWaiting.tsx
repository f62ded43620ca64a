import type { ErrorReport, Job } from "../bridge/bindings";
import { noteKind } from "../frame/noteKind";
import { SignedNote } from "../frame/SignedNote";
import { t } from "../language/text";
import { why } from "../language/told";
import { JobRemedy } from "./JobActions";
import { useCountdown } from "./useCountdown";

/** Why a job does not go on, and when it is tried again. */
export function JobWaiting({ job, error, seconds }: { job: Job; error: ErrorReport; seconds: number }) {
  const left = useCountdown(seconds);
  return (
    <SignedNote
      kind={noteKind(error.code)}
      message={why(error)}
      hint={left > 0 ? t("models-job-waits", { seconds: left }) : t("models-job-waits.now")}
      actions={<JobRemedy job={job} />}
      testId="job-waiting"
    />
  );
}
