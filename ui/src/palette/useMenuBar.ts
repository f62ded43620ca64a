import { useEffect, useRef, useState } from "react";
import { shell } from "../bridge/bridge";
import { MAC } from "../primitives/platform";
import { useStore } from "../state/store";
import { menuState } from "./table";

/** Keeps the menu bar of macOS in step with the page. */
export function useMenuBar(): void {
  // As one text, which is equal where the lists are.
  const state = useStore((state) => (MAC ? JSON.stringify(menuState(state)) : null));
  const told = useRef<Promise<unknown>>(Promise.resolve());
  const [visits, setVisits] = useState(0);
  useEffect(() => {
    const visit = () => setVisits((visits) => visits + 1);
    window.addEventListener("focus", visit);
    return () => window.removeEventListener("focus", visit);
  }, []);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another window may have told of itself meanwhile
  useEffect(() => {
    if (state === null) return;
    // One after the other: the last one counts.
    told.current = told.current.then(() => shell.setMenuState(JSON.parse(state))).catch(console.warn);
  }, [state, visits]);
}
