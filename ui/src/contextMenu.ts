/** What the system's own menu on a right click has something for: to paste into, to correct, to undo. */
const EDITABLE = "textarea, input:not([type=checkbox], [type=radio], [type=range])";

/**
 * Keeps the webview's menu to where it is of use: to what can be edited, and to selected text, which can be copied and
 * looked up. Everywhere else it would offer to reload the page.
 */
export function keepSystemMenu(): void {
  window.addEventListener("contextmenu", (event) => {
    if (!isEditable(event.target) && !isOnSelection(event)) event.preventDefault();
  });
}

const isEditable = (target: EventTarget | null): boolean =>
  target instanceof Element && target.closest(EDITABLE) !== null;

function isOnSelection({ clientX: x, clientY: y }: MouseEvent): boolean {
  const selection = document.getSelection();
  if (selection === null || selection.isCollapsed) return false;
  const places = [...selection.getRangeAt(0).getClientRects()];
  return places.some(({ left, right, top, bottom }) => left <= x && x <= right && top <= y && y <= bottom);
}
