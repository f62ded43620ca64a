import { count } from "../primitives/format";
import { Icon } from "../primitives/icons";
import { setView, useGeneration, useModel, useStore } from "../state/store";
import { contextLabel, contextUse } from "./context";
import { useRepliesLabel } from "./repliesLabel";

/** How much room the open chat has, and how replies are written in it. */
export function ChatPage() {
  const replies = useRepliesLabel();
  return (
    <>
      <Room />
      <div className="folds">
        <section className="fold">
          <button
            type="button"
            className="fold-head"
            data-testid="chat-replies"
            onClick={() => setView({ repliesOpen: true })}
          >
            <span className="fold-name">Replies</span>
            <span className="fold-value">{replies}</span>
            <Icon name="right" />
          </button>
        </section>
      </div>
    </>
  );
}

/** Words that a token is, roughly, in English. */
const WORDS_PER_TOKEN = 0.75;

/** How much room the chat has left, and what fills the context. */
function Room() {
  const messages = useStore((state) => state.messages);
  const model = useModel();
  const settings = useGeneration();
  const use = contextUse(messages, model, settings);
  if (use === null) return null;
  const free = Math.max(0, use.of - use.used);
  return (
    <section className="story" aria-label="Context">
      <p className="story-sentence">
        {use.full ? "No room is left." : `Room for about ${roundly(WORDS_PER_TOKEN * free)} words more.`}
      </p>
      <p className="story-why" data-testid="context">
        {count(use.used)} of {count(use.of)} tokens of the model’s context are used. {contextLabel(use)}
      </p>
      <progress
        className="room"
        value={Math.min(use.used / use.of, 1)}
        aria-label="Share of the context that is used"
      />
    </section>
  );
}

/** A number of which only the first two digits are known. */
function roundly(value: number): string {
  const unit = 10 ** Math.max(0, Math.floor(Math.log10(Math.max(1, value))) - 1);
  return count(Math.round(value / unit) * unit);
}
