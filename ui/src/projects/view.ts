/** What only the page knows of projects. */
export interface ProjectsView {
  /** The project that is being renamed in the list. */
  renamingProject: number | null;
  /** The chat that is being moved to a project. */
  moving: number | null;
  /** The project that is about to be deleted, once it is known what becomes of its chats. */
  deletingProject: number | null;
  /** Files that are being read, by the project that they are for: what they are called. */
  readingFiles: Record<number, string[]>;
  /** What people should know of the folder of a project as it was read last. */
  folderNotes: Record<number, string[]>;
}

/** As the window opens. */
export const PROJECTS_VIEW: ProjectsView = {
  renamingProject: null,
  moving: null,
  deletingProject: null,
  readingFiles: {},
  folderNotes: {},
};
