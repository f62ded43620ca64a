import { type KeyboardEvent, type PointerEvent, type RefObject, useEffect, useRef, useState } from "react";
import { t } from "../language/text";
import { changePreferences } from "../settings/actions";
import { useStore } from "../state/store";

/** How wide the sidebar can be, in pixels. */
const [LEAST, MOST] = [200, 320];
/** How far an arrow key moves its edge. */
const STEP = 10;

/** How wide the sidebar can be in a window of a width; the style sheet has the same limit. */
export const mostIn = (windowWidth: number): number =>
  Math.round(Math.min(MOST, Math.max(LEAST, 0.4 * windowWidth)));

/** The nearest width that the sidebar can have. */
export const possibleWidth = (width: number, most = MOST): number =>
  Math.round(Math.min(Math.max(width, LEAST), most));

/** How wide a key makes a sidebar that has `width`; null if the key is none of the edge's. */
export function widthByKey(key: string, width: number, most: number): number | null {
  const wanted: Record<string, number> = {
    ArrowLeft: width - STEP,
    ArrowRight: width + STEP,
    Home: LEAST,
    End: most,
  };
  return wanted[key] === undefined ? null : possibleWidth(wanted[key], most);
}

/** How wide the sidebar is to be; null where the window's width says. Other widths hold while its edge is dragged. */
export function useSidebarWidth() {
  const kept = useStore((state) => state.preferences.sidebar_width);
  const [dragged, setDragged] = useState<number | null>(null);
  const width = dragged ?? (kept === null ? null : possibleWidth(kept));
  return { width, setDragged };
}

interface Props {
  sidebar: RefObject<HTMLElement | null>;
  /** Shows a width while the edge is dragged; null ends it. */
  setDragged: (width: number | null) => void;
}

/** The edge of the sidebar, by which it is made wider and narrower; a double click gives it its usual width. */
export function SidebarEdge({ sidebar, setDragged }: Props) {
  const [now, setNow] = useState(248);
  const [most, setMost] = useState(MOST);
  const drag = useRef<{ from: number; width: number; to: number } | null>(null);
  useEffect(() => {
    const element = sidebar.current;
    if (element === null) return;
    const measure = () => {
      setNow(Math.round(element.offsetWidth));
      setMost(mostIn(window.innerWidth));
    };
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    window.addEventListener("resize", measure);
    return () => {
      observer.disconnect();
      window.removeEventListener("resize", measure);
    };
  }, [sidebar]);

  /** Keys come faster than what is measured. */
  const widthNow = () => sidebar.current?.offsetWidth ?? now;
  const keep = (width: number | null) => changePreferences({ sidebar_width: width });
  const onPointerDown = (event: PointerEvent<HTMLElement>) => {
    if (event.button !== 0) return;
    event.currentTarget.setPointerCapture(event.pointerId);
    const width = widthNow();
    drag.current = { from: event.clientX, width, to: width };
  };
  const onPointerMove = (event: PointerEvent) => {
    if (drag.current === null) return;
    const { width, from } = drag.current;
    const to = possibleWidth(width + event.clientX - from, mostIn(window.innerWidth));
    if (to === drag.current.to) return;
    drag.current.to = to;
    setDragged(to);
  };
  const end = (isKept: boolean) => {
    const { width, to } = drag.current ?? { width: 0, to: 0 };
    drag.current = null;
    if (isKept && to !== width) keep(to);
    setDragged(null);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const before = widthNow();
    const width = widthByKey(event.key, before, mostIn(window.innerWidth));
    if (width === null) return;
    event.preventDefault();
    if (width !== before) keep(width);
  };
  return (
    // biome-ignore lint/a11y/useSemanticElements: a rule cannot be moved
    <div
      role="separator"
      tabIndex={0}
      className="sidebar-edge"
      aria-orientation="vertical"
      aria-label={t("frame-sidebar-width")}
      aria-valuemin={LEAST}
      aria-valuemax={most}
      aria-valuenow={now}
      aria-valuetext={t("frame-sidebar-width.now", { pixels: now })}
      title={t("frame-sidebar-width.hint")}
      data-testid="sidebar-edge"
      onPointerDown={onPointerDown}
      onPointerMove={onPointerMove}
      onPointerUp={() => end(true)}
      onPointerCancel={() => end(false)}
      onDoubleClick={() => keep(null)}
      onKeyDown={onKeyDown}
    />
  );
}
