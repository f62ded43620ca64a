import { useCallback, useEffect, useLayoutEffect, useRef, useState } from "react";

/** Nearer to the end than this counts as being there. */
const NEAR = 32;
/** The view moves this many milliseconds after the reader's hand, at most; some browsers move it little by little. */
const REACTION = 400;
/** What the reader's hand does to scroll. */
const HANDS = ["wheel", "touchmove", "pointerdown", "keydown"] as const;

/**
 * Keeps the end of what grows in view while the reader is there, and leaves the page alone when they are not. `begun`:
 * there is something that grows; until then the page shows its beginning. `away`: the reader is not at the end.
 * `scrolled`: something is hidden above. `leaveEnd`: the view is about to be moved elsewhere. `keepsEnd`: whether the
 * end is kept in view now. `room` is around the `content`, and as high as that was when it was last laid out: where one
 * part of it makes way for another, it is lower for a moment, and a browser that looks then would move the view up.
 */
export function useStickToBottom(begun: boolean) {
  const scroller = useRef<HTMLElement>(null);
  const room = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const sticking = useRef(true);
  const growing = useRef(begun);
  const last = useRef({ top: 0, height: 0, view: 0 });
  const [away, setAway] = useState(false);
  const [scrolled, setScrolled] = useState(false);

  useLayoutEffect(() => {
    growing.current = begun;
  }, [begun]);

  const toEnd = useCallback(() => {
    const box = scroller.current;
    if (!box) return;
    sticking.current = true;
    setAway(false);
    box.scrollTop = growing.current ? box.scrollHeight : 0;
    last.current = measure(box);
  }, []);

  const leaveEnd = useCallback(() => {
    sticking.current = false;
  }, []);

  const keepsEnd = useCallback(() => sticking.current, []);

  useEffect(() => {
    const box = scroller.current;
    const around = room.current;
    const inside = content.current;
    if (!box || !around || !inside) return;
    let [handMoved, movedUp] = [Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY];
    let later: ReturnType<typeof setTimeout> | undefined;
    const follow = () => {
      if (sticking.current && growing.current) toEnd();
    };
    const onHand = (event: Event) => {
      if (!scrolls(event, box)) return;
      handMoved = performance.now();
      if (!leadsUp(event)) return;
      movedUp = handMoved;
      // It may have been for something else, that scrolls within the page.
      clearTimeout(later);
      later = setTimeout(follow, REACTION);
    };
    const sayWhere = (left: number) => setAway(!sticking.current && left > NEAR);
    const onScroll = () => {
      const now = measure(box);
      const { top, height, view } = last.current;
      // What shrinks for a moment moves the view up too; that is not the reader.
      const byReader =
        performance.now() - handMoved < REACTION || (now.height === height && now.view === view);
      const left = below(now);
      // A hand that leads up leaves by a little way; a view that springs back from beyond the end has nothing below it.
      const leaves = left > (performance.now() - movedUp < REACTION ? 1 : NEAR);
      if (now.top < top && byReader && leaves) sticking.current = false;
      else if (left <= 1 || (left <= NEAR && now.top > top)) sticking.current = true;
      last.current = now;
      sayWhere(left);
      setScrolled(box.scrollTop > 0);
    };
    const observer = new ResizeObserver(() => {
      around.style.minHeight = `${inside.offsetHeight}px`;
      // A view that is kept at the end would never leave it.
      if (performance.now() - movedUp >= REACTION) follow();
      sayWhere(below(measure(box)));
    });
    for (const hand of HANDS) box.addEventListener(hand, onHand, { passive: true });
    box.addEventListener("scroll", onScroll, { passive: true });
    observer.observe(box);
    observer.observe(inside);
    return () => {
      for (const hand of HANDS) box.removeEventListener(hand, onHand);
      box.removeEventListener("scroll", onScroll);
      observer.disconnect();
      clearTimeout(later);
    };
  }, [toEnd]);

  return { scroller, room, content, away: away && begun, scrolled, toEnd, leaveEnd, keepsEnd };
}

/** Keys that scroll. */
const SCROLLING = ["PageUp", "PageDown", "ArrowUp", "ArrowDown", "Home", "End", " "];

/** Whether a hand may scroll by this: a click on what is in the page, and what is typed into a field, do not. */
function scrolls(event: Event, box: HTMLElement): boolean {
  if (event.type === "pointerdown") return event.target === box;
  if (!(event instanceof KeyboardEvent)) return true;
  const takesKeys =
    event.target instanceof Element && event.target.closest("textarea, input, button, summary");
  return SCROLLING.includes(event.key) && !takesKeys;
}

/** Whether a hand that scrolls may do so upwards. */
function leadsUp(event: Event): boolean {
  if (event instanceof WheelEvent) return event.deltaY < 0;
  if (!(event instanceof KeyboardEvent)) return true;
  return ["PageUp", "ArrowUp", "Home"].includes(event.key) || (event.key === " " && event.shiftKey);
}

/** What of it is hidden below the view. */
function below({ top, height, view }: ReturnType<typeof measure>): number {
  return height - view - top;
}

function measure({ scrollTop: top, scrollHeight: height, clientHeight: view }: HTMLElement) {
  return { top, height, view };
}
