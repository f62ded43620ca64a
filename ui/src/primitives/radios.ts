import type { KeyboardEvent } from "react";

const STEPS: Record<string, number> = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 };

/** Where `key` leads from choice `at` of `count`, round the ends; null if it leads nowhere. */
export function rovingIndex(key: string, at: number, count: number): number | null {
  const step = STEPS[key];
  return step === undefined || count === 0 ? null : (at + step + count) % count;
}

/**
 * What makes buttons a group of radio buttons: Tab leads to the one that is checked, and arrow keys check the next.
 * `checked` is the index of one of them, or negative.
 */
export function radios(label: string, checked: number, check: (index: number) => void) {
  const onKeyDown = (event: KeyboardEvent<HTMLElement>) => {
    const choices = [...event.currentTarget.querySelectorAll<HTMLElement>("[role=radio]")];
    const at = choices.indexOf(event.target as HTMLElement);
    const next = rovingIndex(event.key, at, choices.length);
    if (next === null || at < 0) return;
    event.preventDefault();
    choices[next]?.focus();
    check(next);
  };
  return {
    group: { role: "radiogroup", "aria-label": label, onKeyDown },
    radio: (index: number) => ({
      type: "button" as const,
      role: "radio",
      "aria-checked": index === checked,
      tabIndex: index === Math.max(checked, 0) ? 0 : -1,
    }),
  };
}
