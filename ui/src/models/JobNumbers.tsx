import { useId, useState } from "react";
import type { Job } from "../bridge/bindings";
import { t } from "../language/text";
import { bytes, percent } from "../primitives/format";
import { Icon } from "../primitives/icons";
import { jobNumbers, line, progressBytes, thenLabel } from "./labels";

/** The line under the bar: how far the job is, and what follows. */
export function JobNumbers({ job }: { job: Job }) {
  const [open, setOpen] = useState(false);
  const filesId = useId();
  const { amount, speed, left } = jobNumbers(job);
  const { files } = job;
  const numbers = line(amount, speed, left, thenLabel(job));
  const arrived = files.filter(({ done, total }) => done >= total).length;
  if (numbers === "" && files.length === 0) return null;
  return (
    <>
      <p className="job-numbers numbers">
        <span>{numbers}</span>
        {files.length > 0 && (
          <button
            type="button"
            className="disclosure"
            aria-expanded={open}
            aria-controls={filesId}
            data-testid="job-files-toggle"
            onClick={() => setOpen(!open)}
          >
            <Icon name="right" />
            {t("models-job-files", { arrived, all: files.length })}
          </button>
        )}
      </p>
      {open && (
        <ul
          id={filesId}
          className="job-files numbers"
          // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable with the keyboard
          tabIndex={0}
          aria-label={t("models-job-files.label")}
          data-testid="job-files"
        >
          {files.map(({ name, done, total }) => (
            <li key={name}>
              <span className="file-name">{name}</span>
              <span>{done >= total ? bytes(total) : progressBytes(done, total)}</span>
              <span className="file-share">{percent(total > 0 ? done / total : 1)}</span>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}
