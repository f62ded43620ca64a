import { type KeyboardEvent, memo, useState } from "react";
import type { Project } from "../bridge/bindings";
import { NameField } from "../chatList/NameField";
import { useSpotlight } from "../frame/useSpotlight";
import { t } from "../language/text";
import { count } from "../primitives/format";
import { Icon } from "../primitives/icons";
import { MenuButton } from "../primitives/MenuButton";
import { setView, useStore } from "../state/store";
import { expandProject, openProject, renameProject } from "./actions";
import { projectEntries } from "./projectMenu";

interface Props {
  project: Project;
  /** Its chats are listed below it. */
  open: boolean;
  /** It is the one that is shown. */
  current: boolean;
  /** Tab leads to it. */
  stop: boolean;
}

/** A project in the list. */
export const ProjectRow = memo(function ProjectRow({ project, open, current, stop }: Props) {
  const { id, name, chats } = project;
  const renaming = useStore((state) => state.renamingProject === id);
  const takes = useStore((state) => state.dragged?.to?.project === id);
  const [menu, setMenu] = useState(false);
  const row = useSpotlight<HTMLButtonElement>(`project:${id}`);
  if (renaming)
    return (
      <NameField
        name={name}
        label={t("projects-name-field")}
        placeholder={t("projects-name-field.placeholder")}
        testId="rename-project"
        onDone={(name, byKey) => {
          setView({ renamingProject: null, ...(byKey && { spotlight: `project:${id}` }) });
          if (name !== null && name !== project.name) renameProject(id, name);
        }}
      />
    );
  const chatsLabel = t("projects-chats", { chats });
  const tabIndex = stop ? 0 : -1;
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "ArrowRight" && event.key !== "ArrowLeft") return;
    event.preventDefault();
    expandProject(id, event.key === "ArrowRight");
  };
  // Who clicks on what is shown puts its chats away, and calls them.
  const onClick = () => (current ? expandProject(id, !open) : openProject(id));
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the menu has a button too
    <div
      className="chat-row"
      onContextMenu={(event) => {
        event.preventDefault();
        setMenu(true);
      }}
    >
      <button
        type="button"
        ref={row}
        className={takes ? "sidebar-row project-row takes" : "sidebar-row project-row"}
        data-testid="project"
        aria-current={current ? "page" : undefined}
        aria-expanded={open}
        title={`${name}\n${chatsLabel}`}
        tabIndex={tabIndex}
        onClick={onClick}
        onDoubleClick={() => setView({ renamingProject: id })}
        onKeyDown={onKeyDown}
      >
        <Icon name="folder" />
        <span className="chat-title">{name}</span>
        {!open && chats > 0 && (
          <span className="soft numbers project-count" role="img" aria-label={chatsLabel}>
            {count(chats)}
          </span>
        )}
      </button>
      <MenuButton
        label={t("projects-more", { name })}
        testId="project-more"
        open={menu}
        onOpenChange={setMenu}
        tabIndex={tabIndex}
        entries={projectEntries(project, open)}
      >
        <Icon name="more" />
      </MenuButton>
    </div>
  );
});
