import type { EngineState, ModelInfo } from "../bridge/bindings";
import { ErrorNote } from "../frame/ErrorNote";
import { t } from "../language/text";
import { ringLabel } from "../macs/labels";
import { ActionButton } from "../primitives/ActionButton";
import { bytes, loadedDraftLabel, mtpLabel, parameters, percent } from "../primitives/format";
import { Icon } from "../primitives/icons";
import { PopoverButton } from "../primitives/PopoverButton";
import { setView, useModelName, useReason, useStore } from "../state/store";
import { getModels } from "./actions";
import { chooseModel, openModel, selectModel } from "./choose";
import { choiceLabel, draftRefusal, modelNoteLabel } from "./labels";
import { type Choice, choices } from "./models";

/** Which model answers, and how another is opened. */
export function ModelPicker() {
  const engine = useStore((state) => state.engine);
  const name = useModelName();
  const format = useStore((state) => formatLabel(state.engine));
  const macs = useStore((state) => (state.engine.state === "ready" ? state.engine.model.macs.length : 0));
  const open = useStore((state) => state.modelPicker);
  return (
    <PopoverButton
      label={
        <span className="model-name">
          {label(engine, name)}
          {format && <span className="model-format"> · {format}</span>}
          {macs > 0 && <span className="model-format"> · {t("macs-ring.count", { count: macs })}</span>}
        </span>
      }
      title={t("models-picker")}
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

/** How the loaded model is quantized, unless it is not, or its name says so. */
function formatLabel(engine: EngineState): string | null {
  if (engine.state !== "ready") return null;
  const { name, format } = engine.model;
  const plain = (words: string) => words.replaceAll(/[^a-z0-9]/gi, "").toLowerCase();
  return /^b?float/.test(format) || plain(name).includes(plain(format)) ? null : format;
}

function label(engine: EngineState, name: string | null): string {
  if (engine.state !== "loading") return name ?? t("models-picker.none");
  const share = percent(engine.total > 0 ? engine.done / engine.total : 0);
  return t("models-picker.loading", { name: name ?? "", share });
}

function Models() {
  const engine = useStore((state) => state.engine);
  const entries = useStore((state) => state.models);
  const library = useStore((state) => state.library);
  const selected = useStore((state) => state.selectedModel);
  const error = useStore((state) => state.modelError);
  const reason = useReason("open");
  const groups = choices(entries, library);
  const shownError = error ?? (engine.state === "failed" ? engine.error : null);
  return (
    <>
      <div className="model-list">
        {groups.map(([place, group]) => (
          <section key={place} aria-label={place}>
            {groups.length > 1 && <h2>{place}</h2>}
            <ul>
              {group.map((choice) => (
                <li key={choice.path}>
                  <ModelChoice choice={choice} selected={choice.path === selected} reason={reason} />
                  {engine.state === "ready" && engine.model.path === choice.path && (
                    <Details model={engine.model} device={engine.device} inMemory={engine.in_memory} />
                  )}
                </li>
              ))}
            </ul>
          </section>
        ))}
      </div>
      <button type="button" className="choice get-more" data-testid="get-more" onClick={getModels}>
        {t("models-picker.get-more")}
        <Icon name="right" />
      </button>
      {shownError && <ErrorNote error={shownError} testId="model-error" />}
      <div className="open-folder">
        <ActionButton className="button" data-testid="open-folder" reason={reason} onClick={chooseModel}>
          {t("models-picker.open-folder")}
        </ActionButton>
      </div>
    </>
  );
}

interface ChoiceProps {
  choice: Choice;
  selected: boolean;
  /** Why no model can be opened now. */
  reason: string | null;
}

function ModelChoice({ choice: { path, name, builtIn, local }, selected, reason }: ChoiceProps) {
  const listed = useStore((state) => state.models.some((entry) => entry.path === path));
  const unusable = local && local.state.state !== "ready" ? choiceLabel(local) : null;
  return (
    <ActionButton
      className="choice model-choice"
      aria-current={selected}
      data-testid="model-choice"
      reason={reason ?? unusable}
      title={path}
      onClick={() => (listed ? selectModel(path) : openModel(path))}
    >
      <span className="choice-name">{name}</span>
      <span className="choice-words">
        {local ? choiceLabel(local) : builtIn ? t("model-choice-built-in") : path}
      </span>
      {selected && <Icon name="check" />}
    </ActionButton>
  );
}

function Details({ model, device, inMemory }: { model: ModelInfo; device: string; inMemory: boolean }) {
  const refused = draftRefusal(model);
  return (
    <div className="model-details">
      <p>
        {t("models-loaded", {
          parameters: parameters(model.parameters),
          format: model.format,
          size: bytes(model.weight_bytes),
          processor: device,
        })}
      </p>
      {model.macs.length > 0 && <p data-testid="model-macs">{ringLabel(model.macs)}</p>}
      {!inMemory && <p data-testid="model-unloaded">{t("models-loaded.given-back")}</p>}
      <p data-testid="model-mtp">{mtpLabel(model)}</p>
      {model.draft_model && <p data-testid="model-draft">{loadedDraftLabel(model.draft_model)}</p>}
      {refused !== null && <p>{refused}</p>}
      {model.notes.map(modelNoteLabel).map((note) => (
        <p key={note}>{note}</p>
      ))}
    </div>
  );
}
