import { t } from "../language/text";
import { bytes } from "../primitives/format";
import { useStore } from "../state/store";
import { layersLabel, milliseconds, ringName } from "./labels";

/** The Macs that compute the loaded model, as they work; nothing where this one computes alone. */
export function RingPart() {
  const { macs, link_ms: link } = useStore((state) => state.ring);
  const ready = useStore((state) => state.engine.state === "ready");
  if (macs.length === 0 || !ready) return null;
  // The longest fills its bar. That of one that has not worked yet is empty.
  const longest = Math.max(...macs.map(({ step_ms: step }) => step ?? 0));
  return (
    <section className="ring" aria-label={t("macs-ring")} data-testid="ring">
      <h2>{t("macs-ring")}</h2>
      <ul className="ring-macs numbers">
        {macs.map(({ layers, bytes: takes, step_ms: step }, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a Mac is its place
          <li key={at} data-testid="ring-mac">
            <span className="ring-name">{ringName(macs, at)}</span>
            <span className="ring-facts">{`${layersLabel(layers)}${t("word-comma")}${bytes(takes)}`}</span>
            <span className="ring-step">
              {step === null ? t("macs-ring.none") : t("macs-ring.step", { time: milliseconds(step) })}
            </span>
            <span className="ring-bar" aria-hidden="true">
              <span style={{ width: `${longest > 0 ? (100 * (step ?? 0)) / longest : 0}%` }} />
            </span>
          </li>
        ))}
        <li className="ring-link" data-testid="ring-link">
          <span className="ring-name">{t("macs-ring.between")}</span>
          <span className="ring-step">{link === null ? t("macs-ring.none") : milliseconds(link)}</span>
        </li>
      </ul>
    </section>
  );
}
