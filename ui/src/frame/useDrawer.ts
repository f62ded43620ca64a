import { type FocusEvent, type RefObject, useLayoutEffect } from "react";
import { focusComposer } from "../chat/focus";
import { closeDrawer } from "./drawer";

/**
 * The focus while the sidebar lies `over` the page: it goes there when the sidebar is called, and back when it is put
 * away. Where it goes on to the page by itself, the sidebar goes.
 */
export function useDrawer(sidebar: RefObject<HTMLElement | null>, over: boolean) {
  useLayoutEffect(() => {
    const drawer = sidebar.current;
    if (!over || drawer === null) return;
    const before = document.activeElement;
    drawer.focus({ preventScroll: true });
    return () => {
      if (!drawer.contains(document.activeElement)) return;
      if (before instanceof HTMLElement && before !== document.body && before.isConnected) before.focus();
      else focusComposer();
    };
  }, [sidebar, over]);

  const onBlur = (event: FocusEvent) => {
    // Menus and sheets of the sidebar are no part of the page.
    if (over && event.relatedTarget?.closest(".stage")) closeDrawer();
  };
  return { onBlur };
}
