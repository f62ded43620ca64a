import { useState } from "react";
import { chooseModel, openModel, selectModel } from "../actions";
import type { EngineState, ModelInfo } from "../bindings";
import { bytes, mtpWords, parameters, percent } from "../format";
import { setView, useModelName, useStore } from "../store";
import { ErrorNote } from "./ErrorNote";
import { Icon } from "./icons";
import { PopoverButton } from "./PopoverButton";

/** Which model answers, and how another is opened. */
export function ModelPicker() {
  const engine = useStore((state) => state.engine);
  const name = useModelName();
  const open = useStore((state) => state.modelPicker);
  return (
    <PopoverButton
      label={<span className="model-name">{label(engine, name)}</span>}
      title="Model"
      testId="model-picker"
      side="bottom"
      className="control model-control"
      popupClassName="models"
      open={open}
      onOpenChange={(modelPicker) => setView({ modelPicker })}
    >
      <Models />
    </PopoverButton>
  );
}

function label(engine: EngineState, name: string | null): string {
  if (engine.state !== "loading") return name ?? "Choose a model";
  return `Loading ${name} · ${percent(engine.total > 0 ? engine.done / engine.total : 0)}`;
}

function Models() {
  const engine = useStore((state) => state.engine);
  const models = useStore((state) => state.models);
  const selected = useStore((state) => state.selectedModel);
  const error = useStore((state) => state.modelError);
  const busy = engine.state === "loading" || engine.state === "starting";
  const shownError = error ?? (engine.state === "failed" ? engine.error : null);
  return (
    <>
      <ul className="model-list">
        {models.map((model) => (
          <li key={model.path}>
            <button
              type="button"
              className="choice model-choice"
              aria-current={model.path === selected}
              disabled={busy}
              title={model.path}
              onClick={() => selectModel(model.path)}
            >
              <span className="choice-name">{model.name}</span>
              <span className="choice-words">{model.built_in ? "Came with the app" : model.path}</span>
              {model.path === selected && <Icon name="check" />}
            </button>
            {engine.state === "ready" && engine.model.path === model.path && (
              <Details model={engine.model} device={engine.device} />
            )}
          </li>
        ))}
      </ul>
      {shownError && <ErrorNote error={shownError} testId="model-error" />}
      <OpenFolder busy={busy} />
    </>
  );
}

function Details({ model, device }: { model: ModelInfo; device: string }) {
  return (
    <div className="model-details">
      <p>
        {parameters(model.parameters)}, {model.format}, {bytes(model.weight_bytes)} on {device.toUpperCase()}
      </p>
      <p data-testid="model-mtp">{mtpWords(model)}</p>
      {model.notes.map((note) => (
        <p key={note} className="model-note">
          {note}
        </p>
      ))}
    </div>
  );
}

function OpenFolder({ busy }: { busy: boolean }) {
  const [path, setPath] = useState("");
  const trimmed = path.trim();
  return (
    <form
      className="open-folder"
      onSubmit={(event) => {
        event.preventDefault();
        if (trimmed !== "" && !busy) openModel(trimmed);
      }}
    >
      <button
        type="button"
        className="button"
        data-testid="open-folder"
        disabled={busy}
        onClick={chooseModel}
      >
        Open a folder…
      </button>
      <label htmlFor="model-path">or paste the path of a model folder</label>
      <div className="path-row">
        <input
          id="model-path"
          type="text"
          autoComplete="off"
          spellCheck={false}
          value={path}
          placeholder="/Users/you/models/Qwen3.5-4B"
          data-testid="model-path"
          onChange={(event) => setPath(event.target.value)}
        />
        <button type="submit" className="button" data-testid="open-path" disabled={busy || trimmed === ""}>
          Open
        </button>
      </div>
    </form>
  );
}
