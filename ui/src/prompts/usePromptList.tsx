import { type KeyboardEvent, type ReactNode, useEffect, useId, useRef, useState } from "react";
import { t } from "../language/text";
import { openSettings } from "../settings/actions";
import { setView, useStore } from "../state/store";
import { insertPrompt, selectNext } from "./actions";
import { askedFor, matching, summaryOf } from "./text";

interface PromptList {
  /** The list; null while no prompt is looked for. */
  list: ReactNode;
  /** What the field says of it to a screen reader, and that Escape is for it. */
  field: {
    "aria-controls"?: string;
    "aria-activedescendant"?: string;
    "aria-autocomplete"?: "list";
    "data-escape"?: boolean;
  };
  /** Hears a key before the field does; says whether it was for the prompts. */
  onKeyDown: (event: KeyboardEvent<HTMLTextAreaElement>) => boolean;
}

/** The prompts that are offered while a message begins with a slash, and the way from one place to the next. */
export function usePromptList(text: string): PromptList {
  const prompts = useStore((state) => state.prompts);
  const left = useStore((state) => state.promptsLeft);
  const asked = askedFor(text);
  const found = asked === null || left !== null ? [] : matching(prompts, asked);
  const [at, setAt] = useState(0);
  const chosen = Math.min(at, Math.max(found.length - 1, 0));
  const id = useId();
  const place = useRef<HTMLDivElement>(null);

  // biome-ignore lint/correctness/useExhaustiveDependencies: another search begins at its first prompt
  useEffect(() => setAt(0), [asked]);
  useEffect(() => {
    if (asked === null && left !== null) setView({ promptsLeft: null });
  }, [asked, left]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the list is new with each search
  useEffect(() => {
    place.current?.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" });
  }, [chosen, asked]);

  const onKeyDown = (event: KeyboardEvent<HTMLTextAreaElement>): boolean => {
    const { key, shiftKey } = event;
    const prompt = found[chosen];
    if (prompt) {
      if (key === "ArrowDown") setAt((chosen + 1) % found.length);
      else if (key === "ArrowUp") setAt((chosen + found.length - 1) % found.length);
      else if (key === "Enter" || (key === "Tab" && !shiftKey)) insertPrompt(prompt, true);
      else if (key === "Escape") setView({ promptsLeft: text });
      else return false;
    } else if (key !== "Tab" || shiftKey || !selectNext(event.currentTarget.selectionEnd)) return false;
    event.preventDefault();
    event.stopPropagation();
    return true;
  };

  if (asked === "" && left === null && prompts.length === 0)
    return { list: <NoPrompts />, field: {}, onKeyDown };
  if (found.length === 0) return { list: null, field: {}, onKeyDown };
  const list = (
    <div
      className="prompts"
      id={id}
      role="listbox"
      aria-label={t("prompts-list")}
      data-testid="prompts"
      ref={place}
    >
      {found.map((prompt, index) => (
        // biome-ignore lint/a11y/useFocusableInteractive: the field keeps the focus and names the choice
        // biome-ignore lint/a11y/useKeyWithClickEvents: the field hears the keys
        <div
          // biome-ignore lint/suspicious/noArrayIndexKey: two prompts may have one name
          key={index}
          id={`${id}-${index}`}
          role="option"
          aria-selected={index === chosen}
          className="prompt-choice"
          data-testid="prompt"
          onPointerMove={() => setAt(index)}
          // The field keeps the focus.
          onMouseDown={(event) => event.preventDefault()}
          onClick={() => insertPrompt(prompt, true)}
        >
          <span className="prompt-name">{prompt.name}</span>
          <span className="prompt-words">{summaryOf(prompt)}</span>
        </div>
      ))}
    </div>
  );
  const field = {
    "aria-controls": id,
    "aria-activedescendant": `${id}-${chosen}`,
    "aria-autocomplete": "list" as const,
    "data-escape": true,
  };
  return { list, field, onKeyDown };
}

function NoPrompts() {
  return (
    <div className="prompts none" data-testid="no-prompts">
      <span className="soft">{t("prompts-list.none")}</span>
      <button type="button" className="quiet-button" onClick={() => openSettings("prompts")}>
        {t("prompts-list.open")}
      </button>
    </div>
  );
}
