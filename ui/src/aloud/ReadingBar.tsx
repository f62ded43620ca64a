import { useEffect } from "react";
import { t } from "../language/text";
import { Icon } from "../primitives/icons";
import { useStore } from "../state/store";
import { pauseReading, stopReading } from "./actions";

/** The sentence that is read aloud. It ends when the chat is left. */
export function ReadingBar() {
  const reading = useStore((state) => state.reading);
  const chat = useStore((state) => state.chat);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another chat is another text
  useEffect(() => stopReading, [chat]);
  if (reading === null) return null;
  const { sentences, at, paused } = reading;
  return (
    <section className="reading-aloud" aria-label={t("aloud-reading")} data-testid="reading-aloud">
      <Icon name="sound" />
      <span className="reading-aloud-words" data-testid="reading-sentence">
        {sentences[at]}
      </span>
      <span className="reading-aloud-place numbers">
        {t("aloud-place", { at: at + 1, all: sentences.length })}
      </span>
      <button type="button" className="quiet-button" data-testid="reading-pause" onClick={pauseReading}>
        {t(paused ? "aloud-go-on" : "aloud-pause")}
      </button>
      <button type="button" className="quiet-button" data-testid="reading-stop" onClick={stopReading}>
        {t("aloud-stop")}
      </button>
    </section>
  );
}
