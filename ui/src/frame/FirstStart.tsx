import { send } from "../chat/actions";
import { getModels } from "../models/actions";
import { ActionButton } from "../primitives/ActionButton";
import { Icon } from "../primitives/icons";
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
  const builtIn = useStore((state) =>
    state.models.some((entry) => entry.built_in && entry.path === state.selectedModel),
  );
  return (
    <div className="first-start">
      <h1>Ask something, and see how far the model guesses ahead.</h1>
      {builtIn && (
        <>
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
          <p>
            This is a tiny demo model that came with the app. It knows short stories, a few facts and sums,
            and this app. For a real conversation, get a bigger one.
          </p>
          <button type="button" className="button" data-testid="get-bigger" onClick={getModels}>
            Get a bigger model
          </button>
        </>
      )}
    </div>
  );
}
