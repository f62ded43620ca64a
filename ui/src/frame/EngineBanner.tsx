import { t } from "../language/text";
import { GivingPart } from "../macs/GivingPart";
import { selectModel } from "../models/choose";
import { progressBytes } from "../models/labels";
import { openSettings } from "../settings/actions";
import { setView, useModelName, useStore } from "../state/store";
import { ErrorNote } from "./ErrorNote";

/** Why nothing can be sent now. Until the chats are open, the page says that instead. */
export function EngineBanner() {
  const opened = useStore((state) => state.opened);
  const engine = useStore((state) => state.engine);
  const giving = useStore(({ macs }) => macs.giving);
  const model = useModelName();
  const selected = useStore((state) => state.selectedModel);
  if (!opened) return null;
  switch (engine.state) {
    case "ready":
      return null;
    case "starting":
      return (
        <p className="banner" role="status" data-testid="engine-banner">
          {t("frame-engine-starting")}
        </p>
      );
    case "loading": {
      if (giving)
        return (
          <div className="banner" role="status" data-testid="engine-banner">
            <GivingPart giving={giving} />
          </div>
        );
      const share = engine.total > 0 ? engine.done / engine.total : 0;
      return (
        <div className="banner" role="status" data-testid="engine-banner">
          <p className="banner-line">
            <span className="banner-model">{t("frame-loading", { model: model ?? "" })}</span>
            {engine.total > 0 && (
              <span className="banner-numbers numbers">{progressBytes(engine.done, engine.total)}</span>
            )}
          </p>
          <progress value={share} aria-label={t("frame-loading.progress")} />
          <p className="banner-words">{t("frame-loading.words")}</p>
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
                  <button
                    type="button"
                    className="button primary"
                    data-testid="load-again"
                    onClick={() => selectModel(selected)}
                  >
                    {t(isOfMacs(engine.error.code) ? "frame-load-again" : "frame-try-again")}
                  </button>
                )}
                <button type="button" className="button" onClick={() => setView({ modelPicker: true })}>
                  {t("frame-choose-model")}
                </button>
                {isOfMacs(engine.error.code) && (
                  <button
                    type="button"
                    className="quiet-button"
                    data-testid="look-at-macs"
                    onClick={() => openSettings("other_macs")}
                  >
                    {t("macs-outlook.settings")}
                  </button>
                )}
              </>
            }
          />
        </div>
      );
  }
}

/** Whether an error is about a Mac that computes a part of the model. */
const isOfMacs = (code: string): boolean => /^(?:mac|peer|lender|ring|ask|worker|store|gift)_/.test(code);
