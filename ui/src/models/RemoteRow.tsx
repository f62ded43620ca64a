import { useId } from "react";
import type { RemoteModel } from "../bridge/bindings";
import { t } from "../language/text";
import { percent } from "../primitives/format";
import { useStore } from "../state/store";
import { share, type Whereabouts, whereabouts } from "./jobs";
import { missingLabel, remoteFacts, stageLabel } from "./labels";
import { SpeedPicture } from "./SpeedPicture";
import type { Speed } from "./speed";

interface Props {
  model: RemoteModel;
  speed: Speed | null;
  /** The end of the axis that its speed is drawn on. */
  end: number;
  onOpen: () => void;
}

/** A model of the Hub. It opens into all that is known of it, and how to get it. */
export function RemoteRow({ model, speed, end, onOpen }: Props) {
  const where = whereabouts(
    model,
    useStore((state) => state.library),
  );
  const state = stateLabel(where);
  const id = useId();
  const { name, summary, repo, fit } = model;
  const missing = fit?.verdict === "too_big";
  const known = state !== null || missing;
  const action = t(known ? "models-details" : "models-get");
  return (
    <li
      className={missing ? "row model-row remote too-big" : "row model-row remote"}
      aria-labelledby={id}
      data-testid="remote-model"
    >
      <div className="model-line">
        <div className="row-text">
          <div className="model-title">
            <h3 id={id} className="row-name">
              {name}
            </h3>
            {summary === "" && <span className="row-words">{repo.split("/")[0]}</span>}
            {state && <span className="badge numbers">{state}</span>}
          </div>
          <p className="row-words numbers">{missing && fit ? missingLabel(fit) : remoteFacts(model)}</p>
        </div>
        <SpeedPicture speed={speed} end={end} />
        <div className="row-actions">
          <button
            type="button"
            className={known ? "quiet-button row-cover" : "button row-cover"}
            aria-label={t("models-action-of", { action, name })}
            title={repo}
            onClick={onOpen}
          >
            {action}
          </button>
        </div>
      </div>
    </li>
  );
}

function stateLabel({ local, job }: Whereabouts): string | null {
  if (job) {
    const part = share(job);
    return part === null || job.stage.stage === "failed" ? stageLabel(job.stage) : percent(part);
  }
  return local && t(local.state.state === "offline" ? "models-offline" : "models-here-already");
}
