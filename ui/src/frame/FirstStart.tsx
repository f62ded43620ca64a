import { useId } from "react";
import { send } from "../chat/actions";
import { demoAnswers } from "../models/models";
import { ActionButton } from "../primitives/ActionButton";
import { Glyph } from "../primitives/Glyph";
import { Icon } from "../primitives/icons";
import { HERE, MAC } from "../primitives/platform";
import { useReason, useStore } from "../state/store";
import { ModelOffer } from "./ModelOffer";
import { ModelsElsewhere } from "./ModelsElsewhere";

/** Questions that the built-in model was made to answer, and shorter words for them. */
const EXAMPLES = [
  { words: "Tell me a story about an owl and a bell", question: "Tell me a story about an owl and a bell." },
  {
    words: "Make a table of four countries",
    question: "Make a table with four countries and their capitals.",
  },
  { words: "What is multi-token prediction?", question: "What is multi-token prediction?" },
];

/** What the app is about, for those who begin: its idea in a sentence, and the ways on. */
export function FirstStart() {
  const demo = useStore(demoAnswers);
  const none = useStore((state) => state.selectedModel === "");
  return (
    <div className="first-start" data-testid="first-start">
      <header>
        <Glyph guesses={1} />
        <h1>
          <span className="draft-1">Qwen</span>
          <span className="draft-2"> on</span> {MAC ? "your" : "this"}
          <span className="draft-1"> {MAC ? "Mac" : "computer"}</span>,
          <span className="draft-1"> guessing</span>
          <span className="draft-2"> ahead</span>.
        </h1>
        <p>
          The model guesses the next few words, checks them all in one go, and keeps the right ones. You get
          the same text, sooner. Tinted words are guesses that were right; a deeper tint is one further ahead.
        </p>
      </header>
      {(demo || none) && (
        <div className="first-ways">
          {demo && <TryIt />}
          <ModelOffer demo={demo} />
        </div>
      )}
      <footer className="first-foot">
        <p>
          <Icon name="lock" />
          Nothing you write leaves {HERE}. No account.
        </p>
        {(demo || none) && <ModelsElsewhere />}
      </footer>
    </div>
  );
}

/** Something to ask at once. */
function TryIt() {
  const reason = useReason("ask");
  const heading = useId();
  return (
    <section aria-labelledby={heading}>
      <h2 id={heading}>Try it now</h2>
      <p>The demo model is tiny, and answers at once.</p>
      <ul className="examples">
        {EXAMPLES.map(({ words, question }) => (
          <li key={words}>
            <ActionButton
              className="example"
              data-testid="example"
              reason={reason}
              onClick={() => send(question)}
            >
              {words}
              <Icon name="right" />
            </ActionButton>
          </li>
        ))}
      </ul>
    </section>
  );
}
