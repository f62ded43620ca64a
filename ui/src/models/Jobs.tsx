import { t } from "../language/text";
import { useStore } from "../state/store";
import { JobRow } from "./JobRow";
import { isOpen } from "./jobs";

/** What is being worked on. */
export function Jobs() {
  const jobs = useStore((state) => state.library?.jobs);
  // What came of a benchmark is on a screen of its own.
  const shown = jobs?.filter((job) => job.kind !== "benchmark" || isOpen(job)) ?? [];
  if (!jobs || shown.length === 0) return null;
  return (
    <section className="part" aria-label={t("models-jobs")} data-testid="jobs">
      <header className="part-head">
        <h2>{t("models-jobs")}</h2>
      </header>
      <ul className="rows">
        {shown.map((job) => (
          <JobRow key={job.id} job={job} jobs={jobs} />
        ))}
      </ul>
    </section>
  );
}
