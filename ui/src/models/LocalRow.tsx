import { useId, useState } from "react";
import type { LocalModel } from "../bridge/bindings";
import { ErrorNote } from "../frame/ErrorNote";
import { useSpotlight } from "../frame/useSpotlight";
import { ActionButton } from "../primitives/ActionButton";
import { bytes, formatLabel, parameters, percent } from "../primitives/format";
import { Icon } from "../primitives/icons";
import { MenuButton, type MenuEntry } from "../primitives/MenuButton";
import { SHOW_FOLDER } from "../primitives/platform";
import { useReason, useStore } from "../state/store";
import {
  about,
  deleteModel,
  deleteWithDraftModel,
  forgetModel,
  loadModel,
  openRepo,
  reveal,
  tuneModel,
} from "./actions";
import { ConvertSheet } from "./ConvertSheet";
import { DraftModels } from "./DraftModels";
import { deletedWith, NO_DRAFT_MODELS } from "./draftModels";
import { LibraryError } from "./LibraryError";
import { fitLabel, keepReason, line, mtpBadge, offlineLabel, tuningLabel, usedLabel } from "./labels";
import { isRaw } from "./models";

interface Props {
  model: LocalModel;
  /** It is loaded and answers. */
  inUse: boolean;
}

/** A model on this machine, and what can be done with it. */
export function LocalRow({ model, inUse }: Props) {
  const { path, name, state } = model;
  const row = useSpotlight<HTMLLIElement>(about.model(path));
  const id = useId();
  return (
    <li
      ref={row}
      className={state.state === "offline" ? "row offline" : "row"}
      tabIndex={-1}
      aria-labelledby={id}
      data-testid="local-model"
    >
      <div className="row-line">
        <div className="row-text">
          <h3 id={id} className="row-name" title={path}>
            {name}
          </h3>
          <Facts model={model} />
        </div>
        <div className="row-actions">
          {state.state === "ready" && <UseButton model={model} inUse={inUse} />}
          <More model={model} inUse={inUse} />
        </div>
      </div>
      {state.state === "broken" && <ErrorNote error={state.error} testId="broken-model" />}
      <LibraryError subject={about.model(path)} />
      <DraftModels model={model} inUse={inUse} />
    </li>
  );
}

function Facts({ model }: { model: LocalModel }) {
  const { path, origin, state, disk_bytes: size, repo, mtp, fit, tuning } = model;
  const count = model.parameters === null ? null : parameters(model.parameters);
  const used = state.state === "ready" && usedLabel(model.last_used, Date.now());
  const what = line(model.format && formatLabel(model.format), count, bytes(size), used);
  return (
    <>
      <p className="row-words numbers">{what}</p>
      {state.state === "offline" && <p className="row-words">{offlineLabel(origin, path)}</p>}
      {state.state === "ready" && (
        <p className="row-words numbers">
          {fit && <span className="verdict">{fitLabel(fit)}</span>}
          {fit && mtp && " · "}
          {mtp && mtpBadge(mtp)}
        </p>
      )}
      {state.state === "ready" && tuning && <p className="row-words numbers">{tuningLabel(tuning)}</p>}
      {state.state === "ready" && model.update_available && repo && (
        <p className="row-words">
          A newer version is on the Hub.{" "}
          <button
            type="button"
            className="word-button"
            data-testid="look-at-update"
            onClick={() => openRepo(repo, about.model(path))}
          >
            Look at it
          </button>
        </p>
      )}
    </>
  );
}

function UseButton({ model, inUse }: Props) {
  const { path, name, fit } = model;
  const engine = useStore((state) => state.engine);
  const reason = useReason("open");
  if (engine.state === "loading" && engine.path === path)
    return (
      <span className="row-state numbers">
        Loading {percent(engine.total > 0 ? engine.done / engine.total : 0)}
      </span>
    );
  if (inUse)
    return (
      <span className="row-state">
        <Icon name="check" />
        In use
      </span>
    );
  const label = fit?.verdict === "too_big" ? "Use anyway" : "Use";
  return (
    <ActionButton
      className="button"
      data-testid="use-model"
      aria-label={`${label}: ${name}`}
      reason={reason}
      onClick={() => loadModel(path)}
    >
      {label}
    </ActionButton>
  );
}

function More({ model, inUse }: Props) {
  const { path, name, state, origin } = model;
  const [converting, setConverting] = useState(false);
  const draft = deletedWith(
    useStore((state) => state.library?.draft_models ?? NO_DRAFT_MODELS),
    model,
  );
  const unusable =
    state.state === "ready" ? null : state.state === "offline" ? "It is offline" : "It is broken";
  const offline = state.state === "offline" ? "It is offline" : null;
  const keep = keepReason(origin, inUse);
  const entries: MenuEntry[] = [
    {
      name: "Convert…",
      reason: unusable ?? (isRaw(model) ? null : "It is converted already"),
      onSelect: () => setConverting(true),
    },
    {
      name: model.tuning ? "Measure again" : "Measure",
      reason: unusable ?? (model.mtp?.state === "present" ? null : "It has no MTP head to measure"),
      onSelect: () => tuneModel(path),
    },
    { name: SHOW_FOLDER, reason: offline, onSelect: () => reveal(path) },
    origin === "folder"
      ? { name: "Remove from the list", reason: keep, onSelect: () => forgetModel(path) }
      : { name: "Delete", reason: keep ?? offline, onSelect: () => deleteModel(path) },
  ];
  if (draft !== null && origin === "library")
    entries.push({
      name: "Delete with its draft model",
      reason: keep ?? offline,
      onSelect: () => deleteWithDraftModel(path, draft.path),
    });
  return (
    <>
      <MenuButton label={`More for ${name}`} testId="model-more" entries={entries}>
        <Icon name="more" />
      </MenuButton>
      <ConvertSheet model={model} open={converting} onClose={() => setConverting(false)} />
    </>
  );
}
