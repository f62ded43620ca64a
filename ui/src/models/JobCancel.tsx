import { useEffect, useRef } from "react";
import type { Job } from "../bridge/bindings";
import { t } from "../language/text";
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
      aria-label={t("models-cancel", { name })}
      tabIndex={-1}
      data-escape
      data-testid="confirm-cancel"
      onKeyDown={(event) => {
        if (event.key !== "Escape") return;
        event.stopPropagation();
        onClose();
      }}
    >
      <p>{t(downloads ? "models-cancel.download" : "models-cancel.work", { name })}</p>
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
          {t(downloads ? "models-cancel.download-now" : "models-cancel.work-now")}
        </button>
        <button type="button" className="button" data-testid="job-keep" onClick={onClose}>
          {t("models-cancel.keep")}
        </button>
      </div>
    </section>
  );
}
