import { useEffect } from "react";
import { useStore } from "../state/store";
import { systemColours } from "./systemColours";

/** Gives the page the look that was chosen, here and in the system; light or dark and its size are the window's. */
export function useLook(): void {
  const { hue, wide, zoom } = useStore((state) => state.preferences);
  const accent = useStore((state) => state.surroundings.accent);
  useEffect(() => {
    const { dataset } = document.documentElement;
    dataset.hue = hue;
    dataset.wide = String(wide);
  }, [hue, wide]);
  useEffect(() => set("--zoom", String(zoom / 100)), [zoom]);
  useEffect(() => {
    for (const theme of ["light", "dark"] as const) {
      const colours = accent === null ? null : systemColours(accent, theme);
      set(`--${theme}-system`, colours?.system);
      set(`--${theme}-system-fill`, colours?.fill);
      set(`--${theme}-focus`, colours?.focus);
    }
  }, [accent]);
}

/** Says what a role is; where nothing is said, the style sheet's own value holds. */
function set(role: string, colour: string | undefined): void {
  const { style } = document.documentElement;
  if (colour === undefined) style.removeProperty(role);
  else style.setProperty(role, colour);
}
