/**
 * Keeps the webview's menu to where it is of use: to what can be edited, and to selected text, which can be copied and
 * looked up. Everywhere else it would offer to reload the page.
 */
export function keepSystemMenu(): void {
  window.addEventListener("contextmenu", (event) => {
    if (!isEditable(event.target) && !isOnSelection(event)) event.preventDefault();
  });
}

/** Whether the system's own menu on a right click has something for it: to paste into, to correct, to undo. */
const isEditable = (target: EventTarget | null): boolean =>
  target instanceof Element &&
  target.closest("textarea, input:not([type=checkbox], [type=radio], [type=range])") !== null;

function isOnSelection({ clientX, clientY }: MouseEvent): boolean {
  const selection = document.getSelection();
  if (selection === null || selection.isCollapsed) return false;
  return isOn([...selection.getRangeAt(0).getClientRects()], clientX, clientY);
}

/** Half a line, in pixels. */
const HALF_LINE = 12;

/**
 * Whether a point is on one of the pieces of a selection, or between its lines: the pieces are as high as the letters.
 */
export const isOn = (
  pieces: Pick<DOMRect, "left" | "right" | "top" | "bottom">[],
  x: number,
  y: number,
): boolean =>
  pieces.some(
    ({ left, right, top, bottom }) =>
      left <= x && x <= right && top - HALF_LINE <= y && y <= bottom + HALF_LINE,
  );
