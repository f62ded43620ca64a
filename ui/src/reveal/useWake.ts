import { type RefObject, useEffect, useLayoutEffect, useRef } from "react";
import type { DraftRun } from "../bridge/bindings";
import { Boxes } from "./boxes";
import { lastTextNodes } from "./paint";
import { Arrivals, STEP, wakeMarks } from "./wake";

/** How often what fades is looked at again, in milliseconds. */
const TICK = STEP / 4;

/**
 * Tints the newest words under `root` while `text` grows, by boxes in `layer`, lets them fade, and shows where the next
 * word comes. `runs` is where the text came from; null once it is whole.
 */
export function useWake(
  root: RefObject<HTMLDivElement | null>,
  layer: RefObject<HTMLDivElement | null>,
  text: string,
  runs: DraftRun[] | null,
): void {
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
    if (place === null || layer.current === null || (!growing && tinted.current === null)) return;
    const boxes = new Boxes(layer.current);
    const draw = () => {
      const { current } = tinted;
      if (current === null) return;
      const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
      // Without a fade nothing is tinted once the text is whole.
      const marks =
        still && !growing
          ? []
          : wakeMarks(place, current.text, current.runs, arrivals.current, performance.now(), still);
      boxes.show(marks, growing ? (lastTextNodes(place, 1)[0] ?? null) : null);
      if (!growing && marks.length === 0) tinted.current = null;
    };
    draw();
    // Blocks are drawn anew while the text grows, and some once more when they are whole.
    const observer = new MutationObserver(draw);
    observer.observe(place, { childList: true, characterData: true, subtree: true });
    // Lines break elsewhere in another width, and code moves under the pointer.
    let width = place.clientWidth;
    const sizes = new ResizeObserver(() => {
      if (place.clientWidth === width) return;
      width = place.clientWidth;
      draw();
    });
    sizes.observe(place);
    place.addEventListener("scroll", draw, true);
    const timer = setInterval(draw, TICK);
    return () => {
      observer.disconnect();
      sizes.disconnect();
      place.removeEventListener("scroll", draw, true);
      clearInterval(timer);
      boxes.show([], null);
    };
  }, [root, layer, growing]);
}
