import { useId } from "react";
import { send } from "../chat/actions";
import { getModels } from "../models/actions";
import { ActionButton } from "../primitives/ActionButton";
import { Glyph } from "../primitives/Glyph";
import { Icon } from "../primitives/icons";
import { HERE, MAC } from "../primitives/platform";
import { useReason, useStore } from "../state/store";

/** Questions that the built-in model was made to answer. */
const EXAMPLES = [
  "Tell me a story about an owl and a bell.",
  "Make a table with four countries and their capitals.",
  "What is multi-token prediction?",
];

/** A chat without messages. */
export function FirstStart() {
  const reason = useReason("ask");
  const [tryId, getId] = [useId(), useId()];
  const builtIn = useStore((state) =>
    state.models.some((entry) => entry.built_in && entry.path === state.selectedModel),
  );
  return (
    <div className="first-start">
      <header>
        <Glyph guesses={1} />
        <h1>
          <span className="draft-1">Qwen</span> <span className="draft-2">on</span> {MAC ? "your" : "this"}{" "}
          <span className="draft-1">{MAC ? "Mac" : "computer"}</span>,{" "}
          <span className="draft-1">guessing</span> <span className="draft-2">ahead</span>.
        </h1>
        <p>
          The model guesses the next few words, checks them all in one go, and keeps the right ones. You get
          the same text, sooner. Tinted words are guesses that were right; a deeper tint is one further ahead.
        </p>
      </header>
      {builtIn && (
        <div className="first-ways">
          <section aria-labelledby={tryId}>
            <h2 id={tryId}>Try it now</h2>
            <p>The demo model is tiny, and answers at once.</p>
            <ul className="examples">
              {EXAMPLES.map((example) => (
                <li key={example}>
                  <ActionButton
                    className="example"
                    data-testid="example"
                    reason={reason}
                    onClick={() => send(example)}
                  >
                    {example}
                    <Icon name="right" />
                  </ActionButton>
                </li>
              ))}
            </ul>
          </section>
          <section aria-labelledby={getId}>
            <h2 id={getId}>Get a model to work with</h2>
            <p>
              The demo model knows short stories, a few facts and sums, and this app. For a real conversation,
              get a bigger one, or open one that is on {HERE} already.
            </p>
            <button type="button" className="button primary" data-testid="get-bigger" onClick={getModels}>
              Get a model
            </button>
          </section>
        </div>
      )}
      <p className="first-foot">Nothing you write leaves {HERE}. No account.</p>
    </div>
  );
}
