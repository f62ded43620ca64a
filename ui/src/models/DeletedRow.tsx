import type { DeletedModel } from "../bridge/bindings";
import { useSpotlight } from "../frame/useSpotlight";
import { t } from "../language/text";
import { bytes } from "../primitives/format";
import { about } from "./actions";
import { LibraryError } from "./LibraryError";

/** A deleted model, until the app quits. */
export function DeletedRow({ model, onRestore }: { model: DeletedModel; onRestore: () => void }) {
  const undo = useSpotlight<HTMLButtonElement>(about.deleted(model.path));
  return (
    <li className="row deleted-row">
      <div className="row-line">
        <p className="row-text soft numbers">
          {t("models-deleted-model", { name: model.name, size: bytes(model.disk_bytes) })}
        </p>
        <button
          ref={undo}
          type="button"
          className="button"
          aria-label={t("models-deleted-model.bring-back", { name: model.name })}
          data-testid="undo-delete"
          onClick={onRestore}
        >
          {t("models-deleted-model.undo")}
        </button>
      </div>
      <LibraryError subject={about.deleted(model.path)} />
    </li>
  );
}
