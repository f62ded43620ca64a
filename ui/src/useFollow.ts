import { useCallback, useEffect, useRef, useState } from "react";

/** Nearer to the end than this counts as being there. */
const NEAR = 32;

/**
 * Keeps the end of what grows in view while the reader is there, and leaves the page alone when they are not. `away`:
 * the reader is not at the end. `scrolled`: something is hidden above.
 */
export function useFollow() {
  const scroller = useRef<HTMLElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const following = useRef(true);
  const lastTop = useRef(0);
  const [away, setAway] = useState(false);
  const [scrolled, setScrolled] = useState(false);

  const toEnd = useCallback(() => {
    const box = scroller.current;
    if (!box) return;
    following.current = true;
    setAway(false);
    box.scrollTop = box.scrollHeight;
    lastTop.current = box.scrollTop;
  }, []);

  useEffect(() => {
    const box = scroller.current;
    const inside = content.current;
    if (!box || !inside) return;
    const onScroll = () => {
      const rest = box.scrollHeight - box.clientHeight - box.scrollTop;
      // Only the reader moves up; growth alone leaves the place where it was.
      if (rest <= NEAR) following.current = true;
      else if (box.scrollTop < lastTop.current) following.current = false;
      lastTop.current = box.scrollTop;
      setAway(!following.current);
      setScrolled(box.scrollTop > 0);
    };
    const observer = new ResizeObserver(() => {
      if (following.current) toEnd();
    });
    box.addEventListener("scroll", onScroll, { passive: true });
    observer.observe(box);
    observer.observe(inside);
    return () => {
      box.removeEventListener("scroll", onScroll);
      observer.disconnect();
    };
  }, [toEnd]);

  return { scroller, content, away, scrolled, toEnd };
}
