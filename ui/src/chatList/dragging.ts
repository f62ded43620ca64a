import type { PointerEvent as Press } from "react";
import { moveChat } from "../projects/actions";
import { knownChat } from "../state/server";
import { setView, useStore } from "../state/store";
import type { DraggedChat } from "./view";

/** A press of the mouse that moves by fewer pixels is a click. */
const SLOP = 6;
/** So many pixels around an end of the list it scrolls, by so many pixels a frame. */
const [EDGE, STEP] = [24, 6];

const state = () => useStore.getState();

/**
 * Lets a chat be dragged once the mouse that is pressed on it has moved: onto a project, or onto the list to leave its
 * own. The page hears no drags of the system, as files are dropped on the whole window.
 */
export function pressChat(press: Press<HTMLElement>, id: number): void {
  const { button, ctrlKey, pointerType, pointerId, currentTarget: row } = press;
  const { projects, tag } = state();
  // A list of one tag shows no projects.
  const isMeant = button === 0 && !ctrlKey && pointerType !== "touch" && projects.length > 0 && tag === null;
  if (!isMeant) return;
  const from = { x: press.clientX, y: press.clientY };
  let begun = false;
  const heard = new AbortController();
  const giveUp = () => {
    heard.abort();
    cancelDrag();
  };
  const onMove = ({ clientX: x, clientY: y, buttons }: PointerEvent) => {
    // It was released where nobody heard that.
    if (buttons === 0) return giveUp();
    if (!begun && Math.hypot(x - from.x, y - from.y) < SLOP) return;
    const begins = !begun;
    begun = true;
    if (!begins && state().dragged === null) return;
    setView({ dragged: { id, at: { x, y }, to: placeAt(x, y, id) } });
    if (!begins) return;
    // The frames of a chat would hear the mouse.
    row.setPointerCapture(pointerId);
    requestAnimationFrame(scrollAtEnds);
  };
  const onUp = () => {
    heard.abort();
    if (!begun) return;
    leaveOutClick();
    const { dragged } = state();
    cancelDrag();
    if (dragged) drop(dragged);
  };
  const { signal } = heard;
  window.addEventListener("pointermove", onMove, { signal });
  window.addEventListener("pointerup", onUp, { signal });
  window.addEventListener("pointercancel", giveUp, { signal });
  window.addEventListener("blur", giveUp, { signal });
}

/** Leaves the chat that is being dragged where it is. */
export function cancelDrag(): void {
  if (state().dragged !== null) setView({ dragged: null });
}

/** Where a chat would go that is released at a place of the window. */
function placeAt(x: number, y: number, id: number): DraggedChat["to"] {
  const found = document.elementFromPoint(x, y)?.closest<HTMLElement>("[data-drop]")?.dataset.drop;
  if (found === undefined) return null;
  const project = found === "list" ? null : Number(found);
  return knownChat(state(), id)?.project === project ? null : { project };
}

function drop({ id, to }: DraggedChat): void {
  const chat = knownChat(state(), id);
  if (chat && to) moveChat(chat, to.project);
}

/** Scrolls the list while a chat is held at one of its ends. */
function scrollAtEnds(): void {
  const { dragged } = state();
  const list = document.querySelector("[data-drop=list]");
  if (dragged === null || list === null) return;
  const { x, y } = dragged.at;
  const { left, right, top, bottom } = list.getBoundingClientRect();
  const step = Math.abs(y - top) < EDGE ? -STEP : Math.abs(y - bottom) < EDGE ? STEP : 0;
  if (step !== 0 && left < x && x < right) {
    const before = list.scrollTop;
    list.scrollTop += step;
    if (list.scrollTop !== before) setView({ dragged: { ...dragged, to: placeAt(x, y, dragged.id) } });
  }
  requestAnimationFrame(scrollAtEnds);
}

/** The click that a release becomes opens nothing. */
function leaveOutClick(): void {
  const stop = (event: Event) => {
    event.preventDefault();
    event.stopPropagation();
  };
  window.addEventListener("click", stop, { capture: true });
  // It comes at once, or not at all.
  setTimeout(() => window.removeEventListener("click", stop, { capture: true }));
}
