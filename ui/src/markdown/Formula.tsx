import { useLayoutEffect, useMemo, useRef, useSyncExternalStore } from "react";
import { t } from "../language/text";
import type { FormulaSource } from "./formulas";

type Typeset = (tex: string, display: boolean) => Element | null;

/** What draws formulas: loaded for the first one, and there for all that follow. */
class Typesetter {
  #typeset: Typeset | null = null;
  #loading: Promise<void> | null = null;
  readonly #waiting = new Set<() => void>();

  readonly current = (): Typeset | null => this.#typeset;

  /** Calls `ready` when it is there. Returns what ends the wait. */
  readonly wait = (ready: () => void): (() => void) => {
    this.#waiting.add(ready);
    this.load();
    return () => this.#waiting.delete(ready);
  };

  readonly load = (): Promise<void> => {
    this.#loading ??= this.#load();
    return this.#loading;
  };

  async #load(): Promise<void> {
    try {
      const { typeset } = await import("./typeset");
      this.#typeset = typeset;
      for (const ready of this.#waiting) ready();
    } catch (error) {
      // Sources stay, and the next formula tries again.
      this.#loading = null;
      console.error(error);
    }
  }
}

const typesetter = new Typesetter();

/** Waits until formulas are drawn at once, or cannot be drawn. */
export const formulasReady = (): Promise<void> => typesetter.load();

/** A formula; its source, where it cannot be read. */
export function Formula({ raw, tex, display }: FormulaSource) {
  const typeset = useSyncExternalStore(typesetter.wait, typesetter.current, typesetter.current);
  const drawn = useMemo(() => typeset?.(tex, display) ?? null, [typeset, tex, display]);
  const place = useRef<HTMLSpanElement>(null);
  // The library makes elements, and gives them styles in the one way that the content policy allows.
  useLayoutEffect(() => {
    if (drawn) place.current?.replaceChildren(drawn);
  }, [drawn]);

  const label = t("markdown-formula");
  if (!drawn) return <code className="formula-source">{raw.trim()}</code>;
  if (!display) return <span ref={place} className="formula" />;
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for input, and a section would be a landmark
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable with the keyboard
    <span ref={place} className="formula display" role="group" tabIndex={0} aria-label={label} />
  );
}
