import { type KeyboardEvent, type ReactNode, useEffect, useId, useMemo, useRef, useState } from "react";
import { useShallow } from "zustand/react/shallow";
import { VisibleText } from "../chat/VisibleText";
import { t } from "../language/text";
import { takePrompt } from "../offers/actions";
import { askServers, isAsking, mayAsk, offered } from "../offers/offers";
import { ranked } from "../palette/ranked";
import { openSettings } from "../settings/actions";
import { setView, useStore } from "../state/store";
import { insertPrompt, selectNext } from "./actions";
import { type Choice, choices } from "./choices";
import { askedFor } from "./text";

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
  const offers = useStore(useShallow(offered));
  const asks = useStore(mayAsk);
  const asking = useStore(isAsking);
  const asked = askedFor(text);
  const all = useMemo(() => choices(prompts, offers), [prompts, offers]);
  const found = asked === null || left !== null ? [] : ranked(all, asked);
  // By its key: what a server tells late may stand before it.
  const [at, setAt] = useState<string>();
  const chosen = Math.max(
    found.findIndex(({ key }) => key === at),
    0,
  );
  const select = (index: number) => setAt(found[index]?.key);
  const id = useId();
  const place = useRef<HTMLDivElement>(null);

  // biome-ignore lint/correctness/useExhaustiveDependencies: another search begins at its first prompt
  useEffect(() => select(0), [asked]);
  const looks = asked !== null && left === null;
  useEffect(() => {
    if (looks && asks) askServers();
  }, [looks, asks]);
  useEffect(() => {
    if (asked === null && left !== null) setView({ promptsLeft: null });
  }, [asked, left]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the list is new with each search
  useEffect(() => {
    place.current?.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" });
  }, [chosen, asked]);

  const onKeyDown = (event: KeyboardEvent<HTMLTextAreaElement>): boolean => {
    const { key, shiftKey } = event;
    const choice = found[chosen];
    if (choice) {
      if (key === "ArrowDown") select((chosen + 1) % found.length);
      else if (key === "ArrowUp") select((chosen + found.length - 1) % found.length);
      else if (key === "Enter" || (key === "Tab" && !shiftKey)) take(choice);
      else if (key === "Escape") setView({ promptsLeft: text });
      else return false;
    } else if (key !== "Tab" || shiftKey || !selectNext(event.currentTarget.selectionEnd)) return false;
    event.preventDefault();
    event.stopPropagation();
    return true;
  };

  if (asked === "" && left === null && all.length === 0 && !asking)
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
      {found.map((choice, index) => (
        // biome-ignore lint/a11y/useFocusableInteractive: the field keeps the focus and names the choice
        // biome-ignore lint/a11y/useKeyWithClickEvents: the field hears the keys
        <div
          key={choice.key}
          id={`${id}-${index}`}
          role="option"
          aria-selected={index === chosen}
          className="prompt-choice"
          data-testid="prompt"
          onPointerMove={() => select(index)}
          // The field keeps the focus.
          onMouseDown={(event) => event.preventDefault()}
          onClick={() => take(choice)}
        >
          <ChoiceWords choice={choice} />
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

/** Puts it into the message, or asks first for what belongs to it. */
function take(choice: Choice): void {
  if (choice.from === null) insertPrompt(choice.prompt, true);
  else takePrompt(choice.from);
}

function ChoiceWords({ choice: { name, words, from } }: { choice: Choice }) {
  if (from === null)
    return (
      <>
        <span className="prompt-name">{name}</span>
        <span className="prompt-words">{words}</span>
      </>
    );
  return (
    <>
      <bdi className="prompt-name" translate="no">
        <VisibleText text={name} />
      </bdi>
      <bdi className="prompt-words" translate="no">
        <VisibleText text={words} />
      </bdi>
      <span className="prompt-server" translate="no">
        <VisibleText text={from.serverName} />
      </span>
    </>
  );
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
