/** What only the page knows of newer versions. */
export interface UpdatesView {
  /** Whether the sheet is open that tells of them. */
  updateSheet: boolean;
}

/** As the window opens. */
export const UPDATES_VIEW: UpdatesView = {
  updateSheet: false,
};
