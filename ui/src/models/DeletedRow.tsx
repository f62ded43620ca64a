import type { DeletedModel } from "../bridge/bindings";
import { useSpotlight } from "../frame/useSpotlight";
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
          {model.name} is deleted. Its {bytes(model.disk_bytes)} are freed when you quit.
        </p>
        <button
          ref={undo}
          type="button"
          className="button"
          aria-label={`Undo: bring back ${model.name}`}
          data-testid="undo-delete"
          onClick={onRestore}
        >
          Undo
        </button>
      </div>
      <LibraryError subject={about.deleted(model.path)} />
    </li>
  );
}
