import { useEffect, useRef, useState } from "react";

/** What is typed is kept so many milliseconds later at most. */
const SAVE_DELAY = 400;

/** What was typed and is not kept yet. */
const unsaved = new Set<() => Promise<void>>();

/** Keeps what was typed, as before the app ends. */
export const saveTyped = (): Promise<unknown> => Promise.all([...unsaved].map((save) => save()));

/**
 * A text that is kept while it is typed. `keep` says whether that worked; if not, what was typed stays, and is kept
 * with what is typed next.
 */
export function useTypedText(kept: string, keep: (text: string) => Promise<boolean>) {
  const [typed, setTyped] = useState<string | null>(null);
  const waiting = useRef<{ text: string; timer: ReturnType<typeof setTimeout> } | null>(null);
  const save = useRef(async () => {
    if (waiting.current === null) return;
    const { text, timer } = waiting.current;
    clearTimeout(timer);
    waiting.current = null;
    unsaved.delete(save.current);
    const isKept = await keep(text);
    if (isKept && waiting.current === null) setTyped(null);
  });
  const onType = (text: string) => {
    clearTimeout(waiting.current?.timer);
    waiting.current = { text, timer: setTimeout(save.current, SAVE_DELAY) };
    unsaved.add(save.current);
    setTyped(text);
  };
  useEffect(() => {
    const flush = save.current;
    window.addEventListener("pagehide", flush);
    return () => {
      window.removeEventListener("pagehide", flush);
      // Whoever leaves the page has written to the end.
      flush();
    };
  }, []);
  return { text: typed ?? kept, onType, onBlur: save.current };
}
