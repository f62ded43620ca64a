import { isCovered } from "./escape";

/** What can take the focus. */
const FOCUSABLE = ["a[href]", "button", "input", "select", "textarea", "[tabindex]"]
  .map((one) => `${one}:not([tabindex="-1"], :disabled)`)
  .join(", ");

/** A part of the window that F6 leads to. */
interface Area {
  /** What belongs to it. */
  within: string;
  /** What takes the focus in it, if it is there. */
  target: (focused: Element | null) => HTMLElement | null;
}

/** The areas of the window, in the order of Tab. */
const AREAS: readonly Area[] = [
  // The row that one is in.
  { within: ".sidebar", target: () => find(".sidebar [aria-current]") ?? firstIn(".sidebar") },
  { within: ".main > .toolbar", target: () => firstIn(".main > .toolbar") },
  {
    within: ".conversation-place, .screen-place",
    target: () => find("[data-testid=conversation]") ?? firstIn(".screen"),
  },
  { within: "[data-testid=reply-footer]", target: finishedLine },
  { within: ".composer-place", target: () => find("[data-testid=composer]") },
  { within: "[data-testid=inspector]", target: () => firstIn("[data-testid=inspector]") },
];

const find = (selector: string): HTMLElement | null => document.querySelector<HTMLElement>(selector);

const firstIn = (selector: string): HTMLElement | null =>
  find(selector)?.querySelector<HTMLElement>(FOCUSABLE) ?? null;

/** The line below the reply that has the focus, or else the last one. */
function finishedLine(focused: Element | null): HTMLElement | null {
  const line = "[data-testid=reply-footer]";
  const near = focused?.closest("[data-message]")?.querySelector<HTMLElement>(line);
  return near ?? [...document.querySelectorAll<HTMLElement>(line)].at(-1) ?? null;
}

/** The area so many steps on from the one `at` which the focus is, round the end; -1 where there is no other. */
export function nextArea(areThere: readonly boolean[], at: number, step: 1 | -1): number {
  const places = areThere.flatMap((isThere, place) => (isThere ? [place] : []));
  const others = step === 1 ? places : places.toReversed();
  const beyond = others.find((place) => at !== -1 && (place - at) * step > 0);
  const next = beyond ?? others[0] ?? -1;
  return next === at ? -1 : next;
}

/** Moves the focus to the next area of the window, or to the one before; says whether it has moved. */
export function goToArea(step: 1 | -1): boolean {
  if (isCovered()) return false;
  const focused = document.activeElement;
  const targets = AREAS.map(({ target }) => target(focused));
  const at = AREAS.findLastIndex(({ within }) => focused?.closest(within) != null);
  const next = targets[nextArea(targets.map(Boolean), at, step)];
  next?.focus();
  return next != null;
}
