import { useTypedText } from "../frame/typedText";
import { useStore } from "../state/store";
import { changePreferences } from "./actions";

/** The instructions that hold for all chats, as they are typed. */
export function StandingInstructions() {
  const kept = useStore((state) => state.preferences.standing_instructions);
  const { text, onType, onBlur } = useTypedText(kept, (text) =>
    changePreferences({ standing_instructions: text }),
  );
  return (
    <textarea
      className="system-prompt"
      rows={5}
      value={text}
      placeholder="For example: I bake with rye. Metric units. Short answers."
      aria-label="What every chat should know"
      data-testid="standing-instructions"
      onChange={(event) => onType(event.target.value)}
      onBlur={onBlur}
    />
  );
}
