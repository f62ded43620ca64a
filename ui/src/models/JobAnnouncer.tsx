import { useState } from "react";
import type { Job } from "../bridge/bindings";
import { useStore } from "../state/store";
import { endings } from "./jobs";

const NONE: Job[] = [];

/** Tells screen readers when work of the library ends, wherever they are in the window. */
export function JobAnnouncer() {
  const jobs = useStore((state) => state.library?.jobs ?? NONE);
  const [seen, setSeen] = useState(jobs);
  const [words, setWords] = useState("");
  if (jobs !== seen) {
    setSeen(jobs);
    const ended = endings(seen, jobs);
    if (ended !== "") setWords(ended);
  }
  return (
    <p className="off-screen" role="status" data-testid="job-announcer">
      {words}
    </p>
  );
}
