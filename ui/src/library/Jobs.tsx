import { useStore } from "../store";
import { JobRow } from "./JobRow";

/** What is being worked on. */
export function Jobs() {
  const jobs = useStore((state) => state.library?.jobs);
  if (!jobs || jobs.length === 0) return null;
  return (
    <section className="part" aria-label="In progress" data-testid="jobs">
      <header className="part-head">
        <h2>In progress</h2>
      </header>
      <ul className="rows">
        {jobs.map((job) => (
          <JobRow key={job.id} job={job} jobs={jobs} />
        ))}
      </ul>
    </section>
  );
}
