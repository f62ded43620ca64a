import { useTypedText } from "../frame/typedText";
import { t } from "../language/text";
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
      placeholder={t("settings-standing.example")}
      aria-label={t("settings-standing")}
      data-testid="standing-instructions"
      onChange={(event) => onType(event.target.value)}
      onBlur={onBlur}
    />
  );
}
