import { shell } from "../bridge/bridge";
import { showError } from "../frame/errors";
import { setView, useStore } from "../state/store";

/** Opens the sheet, and looks for a newer version unless one is known or there is something else to say. */
export function checkForUpdates(): void {
  setView({ updateSheet: true });
  if (useStore.getState().updates.state === "idle") lookForUpdate();
}

export const showUpdate = () => setView({ updateSheet: true });

export const closeUpdate = () => setView({ updateSheet: false });

export const lookForUpdate = () => shell.checkForUpdate().catch(showError);

export const installUpdate = () => shell.installUpdate().catch(showError);

export const cancelUpdate = () => shell.cancelUpdate().catch(showError);

/** Puts off the version that there is: nothing more is said of it. */
export function postponeUpdate(): void {
  closeUpdate();
  shell.postponeUpdate().catch(showError);
}
