import { t } from "../language/text";
import { useStore } from "../state/store";

/** Says what happens to what is held over the window. */
export function DropTarget() {
  const dragging = useStore((state) => state.dragging);
  if (!dragging) return null;
  return (
    <div className="drop-target" data-testid="drop-target">
      <p>{t("frame-drop")}</p>
    </div>
  );
}
