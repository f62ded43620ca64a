import { useId } from "react";
import { send } from "../chat/actions";
import { RichText } from "../language/RichText";
import { t } from "../language/text";
import { demoAnswers } from "../models/models";
import { ActionButton } from "../primitives/ActionButton";
import { Glyph } from "../primitives/Glyph";
import { Icon } from "../primitives/icons";
import { useReason, useStore } from "../state/store";
import { ModelOffer } from "./ModelOffer";
import { ModelsElsewhere } from "./ModelsElsewhere";

/** Questions that the built-in model was made to answer, in its only language, and shorter words for them. */
const examples = () => [
  { words: t("frame-example-story"), question: "Tell me a story about an owl and a bell." },
  { words: t("frame-example-table"), question: "Make a table with four countries and their capitals." },
  { words: t("frame-example-prediction"), question: "What is multi-token prediction?" },
];

const GUESSED = {
  one: (words: string) => <span className="draft-1">{words}</span>,
  two: (words: string) => <span className="draft-2">{words}</span>,
};

/** What the app is about, for those who begin: its idea in a sentence, and the ways on. */
export function FirstStart() {
  const demo = useStore(demoAnswers);
  const none = useStore((state) => state.selectedModel === "");
  return (
    <div className="first-start" data-testid="first-start">
      <header>
        <Glyph guesses={1} />
        <h1>
          <RichText id="frame-first" parts={GUESSED} />
        </h1>
        <p>{t("frame-first.words")}</p>
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
          {t("frame-stays-here.first")}
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
      <h2 id={heading}>{t("frame-try")}</h2>
      <p>{t("frame-try.words")}</p>
      <ul className="examples">
        {examples().map(({ words, question }) => (
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
