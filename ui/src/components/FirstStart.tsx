import { send } from "../actions";
import { useCanAsk, useStore } from "../store";
import { Icon } from "./icons";

/** Questions that the built-in model was made to answer. */
const EXAMPLES = [
  "Tell me a story about an owl and a bell.",
  "Make a table with four countries and their capitals.",
  "What is multi-token prediction?",
];

/** A chat without messages. */
export function FirstStart() {
  const ready = useCanAsk();
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
                <button
                  type="button"
                  className="example"
                  data-testid="example"
                  disabled={!ready}
                  onClick={() => send(example)}
                >
                  {example}
                  <Icon name="right" />
                </button>
              </li>
            ))}
          </ul>
          <p>
            This is a tiny demo model that came with the app. It knows short stories, a few facts and sums,
            and this app. For a real conversation, open a larger model from its name at the top.
          </p>
        </>
      )}
    </div>
  );
}
