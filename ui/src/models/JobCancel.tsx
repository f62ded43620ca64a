import { useEffect, useRef } from "react";
import type { Job } from "../bridge/bindings";
import { cancelJob } from "./actions";

/** Asks before work is given up. A question that is being read stays, whatever the numbers do in the meantime. */
export function JobCancel({ job, onClose }: { job: Job; onClose: () => void }) {
  const { id, name, kind } = job;
  const question = useRef<HTMLElement>(null);
  useEffect(() => question.current?.focus(), []);
  const downloads = kind === "download";
  return (
    <section
      ref={question}
      className="confirm"
      aria-label={`Cancel ${name}`}
      tabIndex={-1}
      data-escape
      data-testid="confirm-cancel"
      onKeyDown={(event) => {
        if (event.key !== "Escape") return;
        event.stopPropagation();
        onClose();
      }}
    >
      <p>
        {downloads
          ? `The files of ${name} that arrived are removed. To keep them and go on later, pause it.`
          : `What was done for ${name} so far is given up. The originals stay.`}
      </p>
      <div className="actions">
        <button
          type="button"
          className="button"
          data-testid="job-cancel-now"
          onClick={() => {
            onClose();
            cancelJob(id);
          }}
        >
          {downloads ? "Cancel the download" : "Cancel it"}
        </button>
        <button type="button" className="button" data-testid="job-keep" onClick={onClose}>
          Go on
        </button>
      </div>
    </section>
  );
}
