/** What is kept clear above, for the bar, and below, in pixels. */
const ABOVE = 64;
const BELOW = 32;
/** Where in the view something is brought to, as a share of its height from above. */
const PLACE = 0.3;
/** So many frames in a row it has to stand still until it is there, and after so many it is given up. */
const STILL = 4;
const MOST = 300;
/** What scrolls sideways within the conversation. */
const SIDEWAYS = "pre, .table-scroll";
/** What the reader's hand does to go elsewhere. */
const HANDS = ["wheel", "touchmove", "pointerdown"] as const;

/**
 * Scrolls `box` until what `find` gives is in view, and stays there although what is above it may only now get its
 * size. While `find` gives null it is not drawn, and `approach` brings the view near it. Returns what gives it up.
 */
export function bringIntoView(
  box: HTMLElement,
  find: () => StaticRange | Element | null,
  approach: () => void,
): () => void {
  let [frames, still, last] = [0, 0, Number.NaN];
  let frame = 0;
  const end = () => {
    cancelAnimationFrame(frame);
    for (const hand of HANDS) box.removeEventListener(hand, end);
  };
  const look = () => {
    frames += 1;
    const place = find();
    if (place === null) approach();
    else if (isInView(box, place)) {
      const { top } = rectOf(place);
      still = Math.abs(top - last) < 1 ? still + 1 : 0;
      last = top;
    } else {
      reveal(box, place);
      still = 0;
    }
    if (still >= STILL || frames >= MOST) end();
    else frame = requestAnimationFrame(look);
  };
  for (const hand of HANDS) box.addEventListener(hand, end, { passive: true });
  look();
  return end;
}

function rectOf(place: StaticRange | Element): DOMRect {
  if (place instanceof Element) return place.getBoundingClientRect();
  const range = document.createRange();
  range.setStart(place.startContainer, place.startOffset);
  range.setEnd(place.endContainer, place.endOffset);
  return range.getBoundingClientRect();
}

/** Whether something is in view, or as much of it as there can be. */
function isInView(box: HTMLElement, place: StaticRange | Element): boolean {
  const [edge, { top, bottom, left, right }] = [box.getBoundingClientRect(), rectOf(place)];
  const [first, end] = [edge.top + Math.min(ABOVE, box.scrollTop), edge.bottom - BELOW];
  const isAtEnd = box.scrollTop + box.clientHeight >= box.scrollHeight - 1;
  const high =
    top >= first - 1 && (bottom <= end + 1 || bottom - top > end - first || (isAtEnd && top < end));
  const side = sidewaysOf(place)?.getBoundingClientRect();
  return (
    high &&
    (side === undefined || (left >= side.left - 1 && (right <= side.right + 1 || left <= side.left + 1)))
  );
}

function reveal(box: HTMLElement, place: StaticRange | Element): void {
  const side = sidewaysOf(place);
  if (side) {
    const [edge, { left, right }] = [side.getBoundingClientRect(), rectOf(place)];
    if (left < edge.left) side.scrollLeft += left - edge.left - 24;
    else if (right > edge.right) side.scrollLeft += Math.min(right - edge.right + 24, left - edge.left);
  }
  const [edge, { top, bottom }] = [box.getBoundingClientRect(), rectOf(place)];
  const tall = bottom - top > box.clientHeight * (1 - PLACE);
  const wanted = edge.top + (tall ? ABOVE : Math.max(ABOVE, box.clientHeight * PLACE));
  box.scrollTop += top - wanted;
}

/** What has to be scrolled sideways to show a place. */
function sidewaysOf(place: StaticRange | Element): Element | null {
  if (place instanceof Element) return null;
  const side = place.startContainer.parentElement?.closest(SIDEWAYS);
  return side && side.scrollWidth > side.clientWidth ? side : null;
}
