import { useLayoutEffect } from "react";
import { setView } from "../state/store";
import { inSidebar } from "./drawer";

/** A window, divided by its zoom, with no room for the sidebar beside the page. */
const NARROW = "(max-width: 759px)";

/**
 * Says in the store whether the window is narrow. Then the page alone is there, until the sidebar is called; whoever is
 * in the sidebar has called it.
 */
export function useNarrow(): void {
  useLayoutEffect(() => {
    const query = matchMedia(NARROW);
    const follow = () => {
      setView({ narrow: query.matches, drawer: query.matches && inSidebar() });
    };
    follow();
    query.addEventListener("change", follow);
    return () => query.removeEventListener("change", follow);
  }, []);
}
