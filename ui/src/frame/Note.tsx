import { t } from "../language/text";
import { Icon } from "../primitives/icons";
import { setView, useStore } from "../state/store";
import { undo } from "./undo";

/** Says what was done, and undoes it where that can be. */
export function Note() {
  const note = useStore((state) => state.note);
  return (
    <div className="note-place" role="status">
      {note && (
        <div className="note" data-testid="note">
          <span className="note-words">{note.text}</span>
          {note.undo && (
            <button type="button" className="quiet-button" data-testid="undo" onClick={undo}>
              {t("frame-undo")}
            </button>
          )}
          <button
            type="button"
            className="icon-button"
            aria-label={t("frame-dismiss")}
            title={t("frame-dismiss")}
            onClick={() => setView({ note: null })}
          >
            <Icon name="close" />
          </button>
        </div>
      )}
    </div>
  );
}
