import type { Project } from "../bridge/bindings";
import { t } from "../language/text";
import type { MenuEntry } from "../primitives/MenuButton";
import { addFiles, askToDelete, expandProject, nameProject, openProject } from "./actions";

/** What can be done with a project, in the list and where it is shown; `open` where its chats are listed or not. */
export const projectEntries = (project: Project, open?: boolean): MenuEntry[] => {
  const { id } = project;
  const list: MenuEntry[] =
    open === undefined
      ? []
      : [
          { name: t("projects-new-chat"), reason: null, onSelect: () => openProject(id) },
          {
            name: t(open ? "projects-hide-chats" : "projects-show-chats"),
            reason: null,
            onSelect: () => expandProject(id, !open),
          },
        ];
  return [
    ...list,
    { name: t("projects-add-files"), reason: null, onSelect: () => addFiles(id) },
    // Its name is written in the list.
    { name: t("projects-rename"), reason: null, onSelect: () => nameProject(id) },
    { name: t("projects-delete"), reason: null, onSelect: () => askToDelete(project) },
  ];
};
