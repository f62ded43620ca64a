import { useEffect, useRef, useState } from "react";
import { useStore } from "../state/store";
import { changePreferences } from "./actions";

/** What is typed is kept so many milliseconds later at most. */
const SAVE_DELAY = 400;

/** The instructions that hold for all chats, as they are typed. */
export function StandingInstructions() {
  const kept = useStore((state) => state.preferences.standing_instructions);
  const [typed, setTyped] = useState<string | null>(null);
  const unsaved = useRef<{ text: string; timer: ReturnType<typeof setTimeout> } | null>(null);
  const save = () => {
    if (unsaved.current === null) return;
    clearTimeout(unsaved.current.timer);
    changePreferences({ standing_instructions: unsaved.current.text });
    unsaved.current = null;
    setTyped(null);
  };
  const onType = (text: string) => {
    clearTimeout(unsaved.current?.timer);
    unsaved.current = { text, timer: setTimeout(save, SAVE_DELAY) };
    setTyped(text);
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: whoever leaves the page has written to the end
  useEffect(() => {
    window.addEventListener("pagehide", save);
    return () => {
      window.removeEventListener("pagehide", save);
      save();
    };
  }, []);
  return (
    <textarea
      className="system-prompt"
      rows={5}
      value={typed ?? kept}
      placeholder="For example: I bake with rye. Metric units. Short answers."
      aria-label="What every chat should know"
      data-testid="standing-instructions"
      onChange={(event) => onType(event.target.value)}
      onBlur={save}
    />
  );
}
