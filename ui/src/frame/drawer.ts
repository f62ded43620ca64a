import { setView, useStore } from "../state/store";
import { sidebarShown } from "./view";

/** Shows the sidebar: in its place, or over the page where the window is too narrow for both. */
export function showSidebar(): void {
  setView(useStore.getState().narrow ? { drawer: true } : { sidebar: true });
}

/** Shows the sidebar, or puts it away. Whether it has its place in a wide window is kept apart from a narrow one. */
export function toggleSidebar(): void {
  const state = useStore.getState();
  if (!sidebarShown(state)) showSidebar();
  else if (state.narrow) closeDrawer();
  else setView({ sidebar: false });
}

/** Puts away the sidebar that lies over the page. */
export const closeDrawer = (): void => setView({ drawer: false });

/** Whether somebody is in the sidebar, or in a menu or popover that was opened from it. */
export function inSidebar(): boolean {
  const within = document.activeElement?.closest(".sidebar") != null;
  return within || document.querySelector(".sidebar [data-popup-open]") !== null;
}
