import { t } from "../language/text";
import { knownChat } from "../state/server";
import { useStore } from "../state/store";
import { titleOf } from "./ChatRow";

/** The chat that is being dragged, beside the mouse, and where it would go. */
export function DragGhost() {
  const dragged = useStore((state) => state.dragged);
  const chat = useStore((state) => knownChat(state, state.dragged?.id ?? null));
  const projects = useStore((state) => state.projects);
  if (dragged === null || !chat) return null;
  const { at, to } = dragged;
  const name = projects.find(({ id }) => id === to?.project)?.name ?? "";
  return (
    <div
      className="drag-ghost"
      aria-hidden="true"
      data-testid="drag-ghost"
      style={{ translate: `${at.x}px ${at.y}px` }}
    >
      <span className="drag-title">{titleOf(chat)}</span>
      {to !== null && (
        <span className="soft drag-title">
          {to.project === null ? t("chats-drag-out") : t("chats-drag-into", { name })}
        </span>
      )}
    </div>
  );
}
