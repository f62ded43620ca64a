import { changeSettings } from "../actions";
import { useModel, useStore } from "../store";

/** Whether the model may think before it answers. */
export function ThinkingControl() {
  const thinking = useStore((state) => state.settings.thinking);
  const model = useModel();
  const missing = model !== null && !model.thinking;
  return (
    <button
      type="button"
      className="control"
      data-testid="thinking-control"
      aria-pressed={missing ? undefined : thinking}
      disabled={missing}
      title={
        missing
          ? "This model's chat template has no thinking switch."
          : "Whether the model may think before it answers. Applies to the next message."
      }
      onClick={() => changeSettings({ thinking: !thinking })}
    >
      {missing ? (
        "Thinking · no switch"
      ) : (
        <>
          Thinking <strong>{thinking ? "On" : "Off"}</strong>
        </>
      )}
    </button>
  );
}
