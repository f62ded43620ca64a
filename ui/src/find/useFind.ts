import { type RefObject, useEffect, useLayoutEffect, useRef } from "react";
import { CAN_PAINT } from "../reveal/paint";
import { setView, useStore } from "../state/store";
import { openFind } from "./actions";
import { bringIntoView } from "./bringIntoView";
import { type DrawnMatches, drawnMatches } from "./marks";
import { matchesOf } from "./matches";
import { parseQuery, type Query } from "./query";
import type { Find, Match } from "./view";

/** The looks of the matches, and of the one that one is at, as the style sheet calls them. */
const FOUND = "found";
const CURRENT = "found-current";
/** While the page changes its matches are marked this many milliseconds later, or later still where that takes long. */
const PAUSE = 60;
/** Marking takes at most the time of one in so many. */
const RARELY = 10;

interface Place {
  scroller: RefObject<HTMLElement | null>;
  /** Brings the view near a message by its index, so that it is drawn. */
  approach: (index: number) => void;
  /** The view is about to be moved away from the end. */
  leaveEnd: () => void;
}

/** Marks what is looked for in the open chat as its messages are drawn, and brings the current match into view. */
export function useFind({ scroller, approach, leaveEnd }: Place): void {
  const find = useStore(openFind);
  const chat = useStore((state) => state.chat);
  const messages = useStore((state) => state.messages);
  const now = useRef({ find, messages, approach });
  now.current = { find, messages, approach };
  const markSoon = useRef(() => {});
  const isOpen = find !== null;

  // Whoever goes to another chat does not look for it there.
  useEffect(() => {
    const { find } = useStore.getState();
    if (find !== null && find.chat !== chat) setView({ find: null });
  }, [chat]);

  useEffect(() => {
    const box = scroller.current;
    if (!isOpen || !box || !CAN_PAINT) return;
    let timer: ReturnType<typeof setTimeout> | null = null;
    let pause = PAUSE;
    const mark = () => {
      timer = null;
      const begun = performance.now();
      const { find, messages } = now.current;
      if (find) show(box, find, new Set(matchesOf(messages, find.query).map(({ message }) => message)));
      pause = Math.max(PAUSE, RARELY * (performance.now() - begun));
    };
    markSoon.current = () => {
      timer ??= setTimeout(mark, pause);
    };
    mark();
    // Messages come into view, are written, and fold what was thought.
    const observer = new MutationObserver(() => markSoon.current());
    observer.observe(box, { childList: true, characterData: true, subtree: true });
    return () => {
      markSoon.current = () => {};
      observer.disconnect();
      if (timer !== null) clearTimeout(timer);
      for (const name of [FOUND, CURRENT]) CSS.highlights.delete(name);
    };
  }, [scroller, isOpen]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: what is marked changes with it
  useEffect(() => markSoon.current(), [find, messages]);

  // Only a step moves the view.
  const current = find?.current;
  useLayoutEffect(() => {
    const box = scroller.current;
    const { find } = now.current;
    if (!box || !find || !current) return;
    const query = parseQuery(find.query);
    leaveEnd();
    return bringIntoView(
      box,
      () => {
        const message = drawn(box, current.message);
        return message && (matchAt(drawnMatches(message, query), current) ?? lit(message, current));
      },
      () => {
        const index = now.current.messages.findIndex(({ id }) => id === current.message);
        if (index >= 0) now.current.approach(index);
      },
    );
  }, [scroller, leaveEnd, current]);
}

const drawn = (box: HTMLElement, message: number): Element | null =>
  box.querySelector(`[data-message="${message}"]`);

/** The match with a number; the last one where as many are not drawn. */
function matchAt(
  { text, thought }: DrawnMatches,
  { nth, thought: isThought }: Match,
): StaticRange | undefined {
  const ranges = isThought ? thought : text;
  return ranges[nth] ?? ranges.at(-1);
}

/** A message that was found by what is not drawn of it is shown as a whole; its thinking is, once it has unfolded. */
function lit(message: Element, { message: id, thought }: Match): Element | null {
  if (thought) return null;
  const { jump } = useStore.getState();
  if (jump?.message !== id || !jump.highlighted) setView({ jump: { message: id, highlighted: true } });
  return message;
}

/** Marks all matches in the messages that are drawn; those with the ids `found` hold all that is looked for. */
function show(box: HTMLElement, find: Find, found: Set<number>): void {
  const query: Query = parseQuery(find.query);
  const [others, current]: [StaticRange[], StaticRange[]] = [[], []];
  for (const message of box.querySelectorAll<HTMLElement>("[data-message]")) {
    const id = Number(message.dataset.message);
    const matches = drawnMatches(message, query);
    const here = id === find.current.message ? matchAt(matches, find.current) : undefined;
    others.push(...matches.thought.filter((range) => range !== here));
    if (!found.has(id)) continue;
    others.push(...matches.text.filter((range) => range !== here));
    if (here) current.push(here);
  }
  paint(FOUND, others);
  paint(CURRENT, current);
}

/** A look that nothing has is not looked for whenever a text is drawn. */
function paint(name: string, ranges: StaticRange[]): void {
  if (ranges.length === 0) CSS.highlights.delete(name);
  else CSS.highlights.set(name, new Highlight(...ranges));
}
