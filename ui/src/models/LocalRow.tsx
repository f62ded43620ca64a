import { useId } from "react";
import type { LocalModel } from "../bridge/bindings";
import { ErrorNote } from "../frame/ErrorNote";
import { useSpotlight } from "../frame/useSpotlight";
import { RichText } from "../language/RichText";
import { t } from "../language/text";
import { ActionButton } from "../primitives/ActionButton";
import { percent } from "../primitives/format";
import { useReason, useStore } from "../state/store";
import { about, findWithHead, loadModel, openRepo } from "./actions";
import { DraftModels } from "./DraftModels";
import { LibraryError } from "./LibraryError";
import { LocalMore } from "./LocalMore";
import { localFacts, missingLabel, offlineLabel } from "./labels";
import { SpeedPicture } from "./SpeedPicture";
import type { Speed } from "./speed";
import { WarnLine } from "./WarnLine";

interface Props {
  model: LocalModel;
  /** It is loaded and answers. */
  inUse: boolean;
  speed: Speed | null;
  /** The end of the axis that its speed is drawn on. */
  end: number;
}

/** A model on this machine, and what can be done with it. */
export function LocalRow({ model, inUse, speed, end }: Props) {
  const { path, name, state } = model;
  const row = useSpotlight<HTMLLIElement>(about.model(path));
  const id = useId();
  return (
    <li
      ref={row}
      className={state.state === "offline" ? "row model-row offline" : "row model-row"}
      tabIndex={-1}
      aria-labelledby={id}
      data-testid="local-model"
    >
      <div className="model-line">
        <div className="row-text">
          <div className="model-title">
            <h3 id={id} className="row-name" title={path}>
              {name}
            </h3>
            {inUse && <span className="badge in-use">{t("models-in-use")}</span>}
          </div>
          <Facts model={model} />
        </div>
        <SpeedPicture speed={speed} end={end} />
        <div className="row-actions">
          {state.state === "ready" && <UseButton model={model} inUse={inUse} />}
          <LocalMore model={model} inUse={inUse} />
        </div>
      </div>
      {state.state === "broken" && <ErrorNote error={state.error} testId="broken-model" />}
      <LibraryError subject={about.model(path)} />
      <DraftModels model={model} inUse={inUse} />
    </li>
  );
}

function Facts({ model }: { model: LocalModel }) {
  const { path, origin, state, repo, mtp, fit } = model;
  const ready = state.state === "ready";
  return (
    <>
      <p className="row-words numbers">{localFacts(model)}</p>
      {state.state === "offline" && <p className="row-words">{offlineLabel(origin, path)}</p>}
      {ready && fit?.verdict === "too_big" && <p className="row-words numbers">{missingLabel(fit)}</p>}
      {ready && mtp?.state === "stripped" && (
        <WarnLine testId="lost-head">
          {t("models-lost-head")}
          <button
            type="button"
            className="word-button"
            data-testid="get-with-head"
            onClick={() => findWithHead(model.name)}
          >
            {t("models-lost-head.get")}
          </button>
        </WarnLine>
      )}
      {ready && mtp?.state === "unusable" && (
        <WarnLine testId="unusable-head">{t("models-unusable-head")}</WarnLine>
      )}
      {ready && model.update_available && repo && (
        <p className="row-words">
          <RichText
            id="models-newer"
            parts={{
              look: (words) => (
                <button
                  type="button"
                  className="word-button"
                  data-testid="look-at-update"
                  onClick={() => openRepo(repo, about.model(path))}
                >
                  {words}
                </button>
              ),
            }}
          />
        </p>
      )}
    </>
  );
}

function UseButton({ model, inUse }: Pick<Props, "model" | "inUse">) {
  const { path, name, fit } = model;
  const engine = useStore((state) => state.engine);
  const reason = useReason("open");
  if (engine.state === "loading" && engine.path === path)
    return (
      <span className="row-state numbers">
        {t("models-loading-share", { share: percent(engine.total > 0 ? engine.done / engine.total : 0) })}
      </span>
    );
  if (inUse) return null;
  const label = t(fit?.verdict === "too_big" ? "models-use-anyway" : "models-use");
  return (
    <ActionButton
      className="button"
      data-testid="use-model"
      aria-label={t("models-action-of", { action: label, name })}
      reason={reason}
      onClick={() => loadModel(path)}
    >
      {label}
    </ActionButton>
  );
}
