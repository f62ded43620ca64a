import { t } from "../language/text";
import { seenProject } from "../projects/actions";
import { useStore } from "../state/store";

/** Says what happens to what is held over the window. */
export function DropTarget() {
  const dragging = useStore((state) => state.dragging);
  const name = useStore((state) => (state.alone === null ? seenProject(state)?.name : undefined));
  if (!dragging) return null;
  return (
    <div className="drop-target" data-testid="drop-target">
      <p>{name === undefined ? t("frame-drop") : t("frame-drop-project", { name })}</p>
    </div>
  );
}
