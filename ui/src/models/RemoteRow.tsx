import type { RemoteModel } from "../bridge/bindings";
import { bytes, formatLabel, percent } from "../primitives/format";
import { Icon } from "../primitives/icons";
import { HERE } from "../primitives/platform";
import { useStore } from "../state/store";
import { share, type Whereabouts, whereabouts } from "./jobs";
import { fitLabel, licenceLabel, line, parameterLabel, remoteMtp, stageLabel } from "./labels";

/** A model of the Hub. It opens into all that is known of it. */
export function RemoteRow({ model, onOpen }: { model: RemoteModel; onOpen: () => void }) {
  const where = useStore((state) => state.library);
  const state = stateLabel(whereabouts(model, where));
  const { name, summary, repo, recommended, fit } = model;
  return (
    <li className={recommended ? "row remote recommended" : "row remote"}>
      <button type="button" className="row-open" title={repo} data-testid="remote-model" onClick={onOpen}>
        <span className="row-text">
          {recommended && <span className="row-pick">Recommended for {HERE}</span>}
          <span className="row-name">{name}</span>
          <span className="row-words">{summary || repo}</span>
          <span className="row-words numbers">
            {line(
              parameterLabel(model.parameters, model.active_parameters),
              model.format && formatLabel(model.format),
              model.download_bytes === null ? null : bytes(model.download_bytes),
            )}
          </span>
          <span className="row-words numbers">
            <span className="verdict">{fit ? fitLabel(fit) : "Fit not known"}</span>
            {` · ${line(remoteMtp(model.mtp), licenceLabel(model.licence))}`}
          </span>
        </span>
        {state && <span className="row-state numbers">{state}</span>}
        <Icon name="right" />
      </button>
    </li>
  );
}

function stateLabel({ local, job }: Whereabouts): string | null {
  if (job) {
    const part = share(job);
    return part === null || job.stage.stage === "failed" ? stageLabel(job.stage) : percent(part);
  }
  return local && (local.state.state === "offline" ? "Offline" : "Here already");
}
