import { selectModel } from "../models/choose";
import { percent } from "../primitives/format";
import { setView, useModelName, useStore } from "../state/store";
import { ErrorNote } from "./ErrorNote";

/** Why nothing can be sent now. Until the chats are open, the page says that instead. */
export function EngineBanner() {
  const opened = useStore((state) => state.opened);
  const engine = useStore((state) => state.engine);
  const model = useModelName();
  const selected = useStore((state) => state.selectedModel);
  if (!opened) return null;
  switch (engine.state) {
    case "ready":
      return null;
    case "starting":
      return (
        <p className="banner" role="status" data-testid="engine-banner">
          The engine is starting.
        </p>
      );
    case "loading": {
      const share = engine.total > 0 ? engine.done / engine.total : 0;
      return (
        <div className="banner" role="status" data-testid="engine-banner">
          <span>
            Loading {model} · {percent(share)}
          </span>
          <progress value={share} aria-label="Weights read" />
        </div>
      );
    }
    case "failed":
      return (
        <div className="banner" data-testid="engine-banner">
          <ErrorNote error={engine.error}>
            <div className="actions">
              {selected !== "" && (
                <button type="button" className="button" onClick={() => selectModel(selected)}>
                  Try again
                </button>
              )}
              <button type="button" className="button" onClick={() => setView({ modelPicker: true })}>
                Choose a model
              </button>
            </div>
          </ErrorNote>
        </div>
      );
  }
}
