import { PopoverButton } from "../primitives/PopoverButton";
import { useGeneration, useModel } from "../state/store";
import { changeSettings } from "./settings";

/** Whether the model may think before it answers. */
export function ThinkingControl() {
  const { thinking } = useGeneration();
  const model = useModel();
  if (model !== null && !model.thinking) {
    return (
      <PopoverButton
        label="Thinking · no switch"
        title="Thinking"
        testId="thinking-control"
        reason="This model's chat template has no thinking switch."
      />
    );
  }
  return (
    <button
      type="button"
      className="control"
      data-testid="thinking-control"
      aria-pressed={thinking}
      title="Whether the model may think before it answers. Applies to the next message."
      onClick={() => changeSettings({ thinking: !thinking })}
    >
      Thinking <strong>{thinking ? "On" : "Off"}</strong>
    </button>
  );
}
