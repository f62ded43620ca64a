import { selectModel } from "../models/choose";
import { progressBytes } from "../models/labels";
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
          <p className="banner-line">
            <span className="banner-model">Loading {model}</span>
            {engine.total > 0 && (
              <span className="banner-numbers numbers">{progressBytes(engine.done, engine.total)}</span>
            )}
          </p>
          <progress value={share} aria-label="Weights read" />
          <p className="banner-words">You can write already. The message goes off when the model is there.</p>
        </div>
      );
    }
    case "failed":
      return (
        <div className="banner" data-testid="engine-banner">
          <ErrorNote
            error={engine.error}
            actions={
              <>
                {selected !== "" && (
                  <button type="button" className="button primary" onClick={() => selectModel(selected)}>
                    Try again
                  </button>
                )}
                <button type="button" className="button" onClick={() => setView({ modelPicker: true })}>
                  Choose a model
                </button>
              </>
            }
          />
        </div>
      );
  }
}
