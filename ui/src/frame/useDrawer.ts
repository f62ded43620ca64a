import { type FocusEvent, type RefObject, useLayoutEffect } from "react";
import { useStore } from "../state/store";
import { closeDrawer, inSidebar } from "./drawer";
import { sidebarShown } from "./view";

/**
 * The focus while the sidebar lies `over` the page: it goes there when the sidebar is called, and back when it is put
 * away. Where it goes on to the page by itself, the sidebar goes.
 */
export function useDrawer(sidebar: RefObject<HTMLElement | null>, over: boolean) {
  useLayoutEffect(() => {
    const drawer = sidebar.current;
    if (!over || drawer === null) return;
    const before = document.activeElement;
    // Whoever was in it when the window became narrow stays there.
    if (!inSidebar()) drawer.focus({ preventScroll: true });
    return () => {
      // In a window that became wide it may have its place.
      if (sidebarShown(useStore.getState()) || !drawer.contains(document.activeElement)) return;
      if (before instanceof HTMLElement && !drawer.contains(before) && before.isConnected) before.focus();
      requestAnimationFrame(focusToggle);
    };
  }, [sidebar, over]);

  const onBlur = (event: FocusEvent) => {
    // Menus and sheets of the sidebar are no part of the page.
    if (over && event.relatedTarget?.closest(".stage")) closeDrawer();
  };
  return { onBlur };
}

/** Puts the focus on what calls the sidebar, which is there again, unless something else has it. */
function focusToggle(): void {
  const focused = document.activeElement;
  if (focused !== null && focused !== document.body) return;
  document.querySelector<HTMLElement>("[data-testid=sidebar-toggle]")?.focus({ preventScroll: true });
}
