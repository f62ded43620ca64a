import { useEffect, useId, useState } from "react";
import type { DraftRun } from "../bridge/bindings";
import { openFind } from "../find/actions";
import { t } from "../language/text";
import { Icon } from "../primitives/icons";
import { RevealedText } from "../reveal/RevealedText";
import { useStore } from "../state/store";
import { answerNow } from "./actions";

interface Props {
  /** The reply. */
  message: number;
  text: string;
  /** Where the text came from; null while that is not to be seen. */
  runs: DraftRun[] | null;
  /** The model is thinking now. */
  running: boolean;
  /** It was stopped before it came to an answer. */
  unfinished: boolean;
  /** When it began, where that is known. */
  since: number | null;
  /** How long it took; null or 0 where that is not known. */
  seconds: number | null;
  /** It was ended where it had reached its limit. */
  cut: boolean;
}

/** What the model thought before it answered, folded away. */
export function Thinking({ message, text, runs, running, unfinished, since, seconds, cut }: Props) {
  const [open, setOpen] = useState(false);
  const found = useStore(
    (state) => openFind(state)?.current.thought === true && state.find?.current.message === message,
  );
  // What one is led to must be seen.
  useEffect(() => {
    if (found) setOpen(true);
  }, [found]);
  const id = useId();
  return (
    <div className="thinking" data-testid="thinking">
      <button
        type="button"
        className="thinking-head"
        data-testid="thinking-toggle"
        aria-expanded={open}
        aria-controls={id}
        onClick={() => setOpen(!open)}
      >
        <Icon name="right" />
        {running ? (
          <Running since={since} />
        ) : unfinished ? (
          t("reply-thinking.unfinished")
        ) : (
          thought(seconds, cut)
        )}
      </button>
      {running && (
        <button
          type="button"
          className="quiet-button"
          data-testid="answer-now"
          title={t("reply-thinking.answer-now-why")}
          onClick={() => answerNow(message)}
        >
          {t("reply-thinking.answer-now")}
        </button>
      )}
      {open && (
        <div id={id} className="thinking-text">
          <RevealedText text={text} complete={!running} runs={runs} />
        </div>
      )}
    </div>
  );
}

function thought(seconds: number | null, cut: boolean): string {
  if (!seconds) return t(cut ? "reply-thought-cut.unknown" : "reply-thought.unknown");
  if (seconds < 1) return t(cut ? "reply-thought-cut.brief" : "reply-thought.brief");
  return t(cut ? "reply-thought-cut" : "reply-thought", { seconds: Math.round(seconds) });
}

function Running({ since }: { since: number | null }) {
  const [now, setNow] = useState(performance.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(performance.now()), 1000);
    return () => clearInterval(timer);
  }, []);
  const seconds = since === null ? 0 : Math.floor((now - since) / 1000);
  return (
    <span className="numbers">
      {seconds < 1 ? t("reply-thinking") : t("reply-thinking.seconds", { seconds })}
    </span>
  );
}
