import type { Project } from "../bridge/bindings";
import type { MenuEntry } from "../primitives/MenuButton";
import { addFiles, askToDelete, expandProject, nameProject, openProject } from "./actions";

/** What can be done with a project, in the list and where it is shown; `open` where its chats are listed or not. */
export const projectEntries = (project: Project, open?: boolean): MenuEntry[] => {
  const { id } = project;
  const list: MenuEntry[] =
    open === undefined
      ? []
      : [
          { name: "New chat here", reason: null, onSelect: () => openProject(id) },
          {
            name: open ? "Hide its chats" : "Show its chats",
            reason: null,
            onSelect: () => expandProject(id, !open),
          },
        ];
  return [
    ...list,
    { name: "Add files…", reason: null, onSelect: () => addFiles(id) },
    // Its name is written in the list.
    { name: "Rename", reason: null, onSelect: () => nameProject(id) },
    { name: "Delete", reason: null, onSelect: () => askToDelete(project) },
  ];
};
