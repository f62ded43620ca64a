import { type KeyboardEvent, useEffect, useRef } from "react";
import { send, setDraft, stop } from "../actions";
import { streamingReply } from "../state";
import { draftKey, setView, useCanAsk, useModelName, useStore } from "../store";
import { ErrorNote } from "./ErrorNote";
import { Icon } from "./icons";
import { MtpControl } from "./MtpControl";
import { SamplingControl } from "./SamplingControl";
import { ThinkingControl } from "./ThinkingControl";

/** Where the person writes. */
export function Composer() {
  const chat = useStore((state) => state.chat);
  const text = useStore((state) => state.drafts[draftKey(state.chat)] ?? "");
  const streaming = useStore(streamingReply) !== null;
  const error = useStore((state) => state.actionError);
  const model = useModelName();
  const field = useRef<HTMLTextAreaElement>(null);
  const ready = useCanAsk() && !streaming;

  // biome-ignore lint/correctness/useExhaustiveDependencies: opening a chat is a reason to write in it
  useEffect(() => field.current?.focus({ preventScroll: true }), [chat]);

  const submit = () => {
    if (ready && text.trim() !== "") send(text);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    // Enter that ends a composition (Japanese, Chinese, accents) belongs to the input method.
    const composing = event.nativeEvent.isComposing || event.keyCode === 229;
    if (event.key !== "Enter" || event.shiftKey || composing) return;
    event.preventDefault();
    submit();
  };

  return (
    <div className="composer-place">
      {error && (
        <ErrorNote error={error} testId="action-error">
          <button type="button" className="quiet-button" onClick={() => setView({ actionError: null })}>
            Dismiss
          </button>
        </ErrorNote>
      )}
      <form
        className="composer"
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
      >
        {/* A copy of the text, not seen, gives the field its height. */}
        <div className="growing" data-text={text}>
          <textarea
            ref={field}
            rows={1}
            value={text}
            placeholder={model ? `Message ${model}` : "Message"}
            aria-label="Message"
            data-testid="composer"
            onChange={(event) => setDraft(event.target.value)}
            onKeyDown={onKeyDown}
          />
        </div>
        <div className="controls">
          <MtpControl />
          <SamplingControl />
          <ThinkingControl />
          <span className="spring" />
          {streaming ? (
            <button
              type="button"
              className="stop"
              data-testid="stop"
              aria-label="Stop"
              title="Stop (Esc)"
              onClick={stop}
            >
              <span className="stop-square" />
            </button>
          ) : (
            <button
              type="submit"
              className="send"
              data-testid="send"
              aria-label="Send"
              title="Send (Enter)"
              disabled={!ready || text.trim() === ""}
            >
              <Icon name="up" />
            </button>
          )}
        </div>
      </form>
    </div>
  );
}
