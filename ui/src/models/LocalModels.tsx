import { useSpotlight } from "../frame/useSpotlight";
import { t } from "../language/text";
import { bytes } from "../primitives/format";
import { useStore } from "../state/store";
import { about, chooseAndAdd, loadLibrary, restoreModel } from "./actions";
import { DeletedRow } from "./DeletedRow";
import { LonelyDraftModels } from "./DraftModels";
import { NO_DRAFT_MODELS } from "./draftModels";
import { LibraryError } from "./LibraryError";
import { PlaceNotice } from "./LibraryPlace";
import { LocalRow } from "./LocalRow";
import { line } from "./labels";
import { byPlace } from "./models";
import { SpeedLegend } from "./SpeedPicture";
import { useSpeeds } from "./useSpeeds";

/** The models on this machine. */
export function LocalModels({ heading }: { heading: string }) {
  const library = useStore((state) => state.library);
  const selected = useStore((state) => (state.engine.state === "ready" ? state.engine.model.path : null));
  const models = library?.models ?? [];
  const drafts = library?.draft_models ?? NO_DRAFT_MODELS;
  const groups = byPlace(models);
  const own = models.filter(({ origin }) => origin !== "built_in");
  const section = useSpotlight<HTMLElement>(about.here);
  const speeds = useSpeeds();
  return (
    <section ref={section} className="part" tabIndex={-1} aria-label={heading} data-testid="local-models">
      <header className="part-head">
        <h2>{heading}</h2>
        {library && own.length > 0 && (
          <span className="part-facts numbers">
            {line(
              modelsLabel(models.length, drafts.length),
              bytes([...models, ...drafts].reduce((sum, model) => sum + model.disk_bytes, 0)),
              library.place.online && t("models-free", { size: bytes(library.place.free_bytes) }),
            )}
          </span>
        )}
        <span className="spring" />
        {models.some((model) => speeds.local(model) !== null) && <SpeedLegend measured />}
      </header>
      <LibraryError
        subject={about.library}
        actions={
          <button type="button" className="button" onClick={loadLibrary}>
            {t("models-try-again")}
          </button>
        }
      />
      <LibraryError subject={about.add} />
      {library && <PlaceNotice library={library} />}
      {groups.map(([place, group]) => (
        <section key={place} aria-label={place}>
          {groups.length > 1 && <p className="group-name">{place}</p>}
          <ul className="rows">
            {group.map((model) => (
              <LocalRow
                key={model.path}
                model={model}
                inUse={model.path === selected}
                speed={speeds.local(model)}
                end={speeds.end}
              />
            ))}
          </ul>
        </section>
      ))}
      <LonelyDraftModels />
      {library && own.length === 0 && library.deleted.length === 0 && (
        <div className="part-empty" data-testid="no-models">
          <p>{t(models.length > 0 ? "models-only-demo" : "models-none")}</p>
          <button type="button" className="button" data-testid="add-folder" onClick={chooseAndAdd}>
            {t("models-add-folder")}
          </button>
        </div>
      )}
      {library && library.deleted.length > 0 && (
        <ul className="rows deleted" aria-label={t("models-deleted")} data-testid="deleted-models">
          {library.deleted.map((model) => (
            <DeletedRow key={model.path} model={model} onRestore={() => restoreModel(model.path)} />
          ))}
        </ul>
      )}
    </section>
  );
}

/** `2 models and a draft model` */
const modelsLabel = (models: number, drafts: number): string =>
  t(drafts === 0 ? "models-count" : "models-count-drafts", { models, drafts });
