import { useEffect } from "react";
import { useStore } from "../state/store";

/** Gives the page the look that the person chose; light or dark and its size are the window's. */
export function useLook(): void {
  const { hue, wide } = useStore((state) => state.preferences);
  useEffect(() => {
    const { dataset } = document.documentElement;
    dataset.hue = hue;
    dataset.wide = String(wide);
  }, [hue, wide]);
}
