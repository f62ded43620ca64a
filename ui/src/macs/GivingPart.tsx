import type { Giving } from "../bridge/bindings";
import { shell } from "../bridge/bridge";
import { t } from "../language/text";
import { progressBytes, timeLeft } from "../models/labels";
import { bytes, commas } from "../primitives/format";

/** How far another Mac has been given its layers, before the model is loaded; and an end to it. */
export function GivingPart({ giving }: { giving: Giving }) {
  const { mac, done_bytes: done, all_bytes: all, bytes_per_second: speed } = giving;
  return (
    <div data-testid="giving">
      <p className="banner-line">
        <span className="banner-model">{t("macs-giving", { mac })}</span>
        <span className="banner-numbers numbers">
          {commas([
            progressBytes(done, all),
            speed > 0 && t("model-bytes-per-second", { bytes: bytes(speed) }),
            speed > 0 && timeLeft((all - done) / speed),
          ])}
        </span>
      </p>
      <progress value={all > 0 ? done / all : 0} aria-label={t("macs-giving.progress")} />
      <p className="banner-words">{t("macs-giving.words")}</p>
      <button type="button" className="button" data-testid="stop-giving" onClick={() => shell.stopGiving()}>
        {t("macs-giving.stop")}
      </button>
    </div>
  );
}
