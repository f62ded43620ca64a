import { useLayoutEffect, useRef } from "react";
import { focusComposer } from "../chat/focus";

/** Lets the person write once a part of the empty chat goes away that had the focus, or gave it to nothing. */
export function useFocusHandOver<T extends HTMLElement>() {
  const part = useRef<T>(null);
  useLayoutEffect(() => {
    const node = part.current;
    return () => {
      // A button that is clicked does not get the focus on a Mac.
      const focus = document.activeElement;
      if (focus !== document.body && !node?.contains(focus)) return;
      queueMicrotask(() => {
        if (!node?.isConnected) focusComposer();
      });
    };
  }, []);
  return part;
}
