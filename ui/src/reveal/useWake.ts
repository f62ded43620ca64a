import { type RefObject, useEffect, useLayoutEffect, useRef } from "react";
import type { DraftRun } from "../bridge/bindings";
import { CAN_PAINT, Paint } from "./paint";
import { Arrivals, STEP, wakeMarks } from "./wake";

/** How often what fades is looked at again, in milliseconds. */
const TICK = STEP / 8;

/**
 * Tints the newest words under `root` while `text` grows, and lets them fade. `runs` is where the text came from; null
 * once it is whole, and where nothing is to be tinted.
 */
export function useWake(root: RefObject<HTMLDivElement | null>, text: string, runs: DraftRun[] | null): void {
  const arrivals = useRef(new Arrivals());
  /** What is tinted; null before anything is, and once all of it has faded. */
  const tinted = useRef<{ text: string; runs: DraftRun[] } | null>(null);
  const growing = runs !== null;
  // The page is marked once it has changed, and before it is drawn.
  useLayoutEffect(() => {
    if (runs !== null) {
      tinted.current = { text, runs };
      arrivals.current.grow(text.length, performance.now());
    } else if (tinted.current !== null && text.startsWith(tinted.current.text)) tinted.current.text = text;
  }, [text, runs]);
  useEffect(() => {
    const place = root.current;
    if (!CAN_PAINT || place === null || (!growing && tinted.current === null)) return;
    const paint = new Paint();
    const draw = () => {
      const { current } = tinted;
      if (current === null) return;
      const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
      // Without a fade nothing is tinted once the text is whole.
      const marks =
        still && !growing
          ? []
          : wakeMarks(place, current.text, current.runs, arrivals.current, performance.now(), still);
      paint.show(marks);
      if (!growing && marks.length === 0) tinted.current = null;
    };
    draw();
    // Blocks are drawn anew while the text grows, and some once more when they are whole.
    const observer = new MutationObserver(draw);
    observer.observe(place, { childList: true, characterData: true, subtree: true });
    const timer = setInterval(draw, TICK);
    return () => {
      observer.disconnect();
      clearInterval(timer);
      paint.show([]);
    };
  }, [root, growing]);
}
