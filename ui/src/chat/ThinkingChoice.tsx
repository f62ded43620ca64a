import type { GenerationSettings, ModelInfo } from "../bridge/bindings";
import { t } from "../language/text";
import { NumberField } from "../primitives/NumberField";
import { radios } from "../primitives/radios";
import { noThinking, thinkingModes, thinkingOf, thinkingReason, thinkingWords } from "./thinking";

/** The most tokens that a limit may have. */
const MOST = 1_000_000;

interface Props {
  /** What holds now. */
  thinking: GenerationSettings["thinking"];
  /** The model that is to think so; null where it holds for any. */
  model: ModelInfo | null;
  testId: string;
  change: (change: Pick<GenerationSettings, "thinking">) => void;
}

/** How much the model may think before it answers. */
export function ThinkingChoice({ thinking, model, testId, change }: Props) {
  const modes = thinkingModes();
  const check = (index: number) => {
    const mode = modes[index]?.mode;
    if (mode === undefined || mode === thinking.mode || thinkingReason(mode, model) !== null) return;
    change({ thinking: thinkingOf(mode) });
  };
  const at = modes.findIndex(({ mode }) => mode === thinking.mode);
  const { group, radio } = radios(t("reply-thinking-choice"), at, check);
  return (
    <>
      <div className="segments" data-testid={testId} {...group}>
        {modes.map(({ mode, name }, index) => {
          const reason = thinkingReason(mode, model);
          return (
            <button
              {...radio(index)}
              key={mode}
              data-testid={`${testId}-${mode}`}
              aria-disabled={reason !== null || undefined}
              title={reason ?? undefined}
              onClick={() => check(index)}
            >
              {name}
            </button>
          );
        })}
      </div>
      <p className="popover-note">{noThinking(model) ?? thinkingWords(thinking, model)}</p>
      {thinking.mode === "tokens" && (
        <div className="fields">
          <NumberField
            label={t("reply-thinking-choice.longest")}
            words={t("reply-in-tokens")}
            value={thinking.tokens}
            min={1}
            max={MOST}
            whole
            testId={`${testId}-limit`}
            onChange={(tokens) => tokens !== null && change({ thinking: { mode: "tokens", tokens } })}
          />
        </div>
      )}
    </>
  );
}
