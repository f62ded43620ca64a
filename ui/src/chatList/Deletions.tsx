import type { Deletion } from "../bridge/bindings";
import { restorePreset } from "../chat/presets";
import { t } from "../language/text";
import { count } from "../primitives/format";
import { Icon } from "../primitives/icons";
import { PopoverButton } from "../primitives/PopoverButton";
import { restoreProject } from "../projects/actions";
import { useStore } from "../state/store";
import { bringBack } from "./deleting";

/** What was deleted, at the foot of the list of chats; there while something can be brought back. */
export function Deletions() {
  const deletions = useStore((state) => state.deletions);
  const presets = useStore((state) => state.deletedPresets);
  const projects = useStore((state) => state.deletedProjects);
  const many = deletions.length + presets.length + projects.length;
  if (many === 0) return null;
  return (
    <PopoverButton
      label={
        <>
          <Icon name="deleted" />
          <span className="sidebar-words">{t("chats-deletions")}</span>
          <span className="soft numbers">{count(many)}</span>
        </>
      }
      title={t("chats-deletions.title")}
      testId="deletions"
      className="sidebar-row deletions"
      popupClassName="deletion-list"
      chevron={false}
    >
      <h2>{t("chats-deletions")}</h2>
      <p className="popover-note">{t("chats-deletions.note")}</p>
      <ul>
        {presets.map(({ id, name }) => (
          <DeletionRow
            key={`preset ${id}`}
            name={name}
            what={t("chats-deletions-preset")}
            onBack={() => restorePreset(id)}
          />
        ))}
        {projects.map(({ id, name, chats }) => (
          <DeletionRow
            key={`project ${id}`}
            name={name}
            what={chats === 0 ? t("chats-deletions-project") : t("chats-deletions-project-chats", { chats })}
            onBack={() => restoreProject(id)}
          />
        ))}
        {deletions.map((deletion) => (
          <DeletionRow key={deletion.id} {...deletionLabel(deletion)} onBack={() => bringBack(deletion)} />
        ))}
      </ul>
    </PopoverButton>
  );
}

interface Row {
  name: string;
  what: string;
  onBack: () => void;
}

function DeletionRow({ name, what, onBack }: Row) {
  return (
    <li className="deletion">
      <span className="deletion-words">
        <span className="deletion-name" title={name}>
          {name}
        </span>
        <span className="deletion-name choice-words" title={what}>
          {what}
        </span>
      </span>
      <button
        type="button"
        className="button"
        aria-label={t("chats-bring-back.label", { name })}
        data-testid="bring-back"
        onClick={onBack}
      >
        {t("chats-bring-back")}
      </button>
    </li>
  );
}

/** What is deleted, in words. */
function deletionLabel({ title, message, excerpt }: Deletion): { name: string; what: string } {
  const chat = title || t("chats-unnamed");
  if (message === null) return { name: chat, what: t("chats-deletions-chat") };
  return { name: excerpt || t("chats-deletions-no-text"), what: t("chats-deletions-message", { chat }) };
}
