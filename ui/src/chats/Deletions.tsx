import type { Deletion } from "../bindings";
import { Icon } from "../components/icons";
import { PopoverButton } from "../components/PopoverButton";
import { count } from "../format";
import { useStore } from "../store";
import { bringBack } from "./actions";

/** What was deleted, at the foot of the list of chats; there while something can be brought back. */
export function Deletions() {
  const deletions = useStore((state) => state.deletions);
  if (deletions.length === 0) return null;
  return (
    <PopoverButton
      label={
        <>
          <Icon name="deleted" />
          <span className="entry-text">Deleted</span>
          <span className="soft numbers">{count(deletions.length)}</span>
        </>
      }
      title="Deleted chats and messages"
      testId="deletions"
      className="sidebar-row deletions"
      popupClassName="deletion-list"
      chevron={false}
    >
      <h2>Deleted</h2>
      <p className="popover-note">All of it can be brought back until you quit.</p>
      <ul>
        {deletions.map((deletion) => (
          <DeletionRow key={deletion.id} deletion={deletion} />
        ))}
      </ul>
    </PopoverButton>
  );
}

function DeletionRow({ deletion }: { deletion: Deletion }) {
  const { name, what } = deletionWords(deletion);
  return (
    <li className="deletion">
      <span className="deletion-words">
        <span className="deletion-name">{name}</span>
        <span className="deletion-name choice-words">{what}</span>
      </span>
      <button
        type="button"
        className="button"
        aria-label={`Bring back “${name}”`}
        data-testid="bring-back"
        onClick={() => bringBack(deletion)}
      >
        Bring back
      </button>
    </li>
  );
}

/** What is deleted, in words. */
export function deletionWords({ title, message, excerpt }: Deletion): { name: string; what: string } {
  const chat = title || "Without a name";
  if (message === null) return { name: chat, what: "Chat" };
  return { name: excerpt || "Without text", what: `Message in “${chat}”` };
}
