import { useStore } from "../state/store";

/** Says what happens to what is held over the window. */
export function DropTarget() {
  const dragging = useStore((state) => state.dragging);
  if (!dragging) return null;
  return (
    <div className="drop-target" data-testid="drop-target">
      <p>
        Drop a picture, a text file or a document to attach it, the folder of a model to add it, or a JSON
        file to import its chats.
      </p>
    </div>
  );
}
