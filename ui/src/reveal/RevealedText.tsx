import { type RefObject, useEffect, useRef } from "react";
import type { DraftRun } from "../bridge/bindings";
import { Markdown } from "../markdown/Markdown";
import { CAN_PAINT, marksOf, Paint } from "./paint";
import { pieces } from "./runs";
import { useWake } from "./useWake";

/** While a text grows its marks follow this many milliseconds later, or later still where they take long to find. */
const PAUSE = 250;
/** Finding the marks takes at most the time of one in so many. */
const RARELY = 10;

interface Props {
  text: string;
  complete: boolean;
  /** Where the text came from; null while that is not to be seen. */
  runs: DraftRun[] | null;
  /** The same while the text is written, of which the newest words are tinted where `runs` is null; null otherwise. */
  wake?: DraftRun[] | null;
}

/** A part of a reply. What came from drafts can be marked in it. */
export function RevealedText({ text, complete, runs, wake = null }: Props) {
  const root = useRef<HTMLDivElement>(null);
  const layer = useRef<HTMLDivElement>(null);
  usePaint(root, text, runs);
  useWake(root, layer, text, wake && (runs ? [] : wake));
  if (runs && !CAN_PAINT) return <PlainText text={text} runs={runs} />;
  return (
    <div className="revealed">
      <div className="wake" ref={layer} aria-hidden />
      <div ref={root}>
        <Markdown text={text} complete={complete} />
      </div>
    </div>
  );
}

/** The text as it was written, for webviews that cannot mark it in place. */
export function PlainText({ text, runs }: { text: string; runs: DraftRun[] }) {
  return (
    <p className="plain-text">
      {pieces(text, runs).map(({ text, place }, index) =>
        place === 0 ? (
          text
        ) : (
          // biome-ignore lint/suspicious/noArrayIndexKey: pieces are only ever added at the end
          <span key={index} className={`draft-${place}`}>
            {text}
          </span>
        ),
      )}
    </p>
  );
}

/** Marks the text under `root`, for as long as there is something to mark. */
function usePaint(root: RefObject<HTMLDivElement | null>, text: string, runs: DraftRun[] | null): void {
  const now = useRef({ text, runs });
  now.current = { text, runs };
  const drawSoon = useRef(() => {});
  const wanted = CAN_PAINT && runs !== null;
  useEffect(() => {
    const place = root.current;
    if (!wanted || !place) return;
    const paint = new Paint();
    let timer: ReturnType<typeof setTimeout> | null = null;
    let pause = 0;
    const draw = () => {
      timer = null;
      const begun = performance.now();
      if (now.current.runs) paint.show(marksOf(place, now.current.text, now.current.runs));
      pause = Math.max(PAUSE, RARELY * (performance.now() - begun));
    };
    drawSoon.current = () => {
      timer ??= setTimeout(draw, pause);
    };
    draw();
    // Blocks are drawn anew while the text grows, and some once more when they are whole.
    const observer = new MutationObserver(() => drawSoon.current());
    observer.observe(place, { childList: true, characterData: true, subtree: true });
    return () => {
      drawSoon.current = () => {};
      observer.disconnect();
      if (timer !== null) clearTimeout(timer);
      paint.show([]);
    };
  }, [root, wanted]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: what is marked changes with it
  useEffect(() => drawSoon.current(), [text, runs]);
}
