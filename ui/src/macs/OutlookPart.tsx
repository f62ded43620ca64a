import { type ReactNode, useEffect, useRef, useState } from "react";
import type { ErrorReport, LocalModel, SpreadOutlook } from "../bridge/bindings";
import { reportOf, shell } from "../bridge/bridge";
import { ErrorNote } from "../frame/ErrorNote";
import { RichText } from "../language/RichText";
import { t } from "../language/text";
import { loadAlone, loadOverMacs } from "../models/actions";
import { thousands } from "../models/labels";
import { ActionButton } from "../primitives/ActionButton";
import { bytes, rate } from "../primitives/format";
import { openSettings } from "../settings/actions";
import { useReason, useStore } from "../state/store";
import { listed, together } from "./labels";
import { SplitBar } from "./SplitBar";

interface Props {
  model: LocalModel;
  /** Leaves what is known of the model, for a load or the settings. */
  onLeave: () => void;
}

/** What other Macs could do for a model, and what they do. */
export function OutlookPart({ model, onLeave }: Props) {
  const { path, fit, state, origin } = model;
  const lend = useStore(({ macs }) => macs.paired.some(({ lends }) => lends));
  const spread = useStore(({ macs }) => macs.spread.find((one) => one.path === path));
  const tooBig = fit?.verdict === "too_big";
  const loading = useReason("open");
  if (state.state !== "ready") return null;
  const settings = () => {
    onLeave();
    openSettings("other_macs");
  };
  if (spread)
    return (
      <Part>
        <p className="sheet-words">{t("macs-outlook.is-spread", { macs: together(spread.parts) })}</p>
        <SplitBar parts={spread.parts} layers={spread.parts.map(({ layers }) => layers)} />
        <div className="outlook-foot">
          <ActionButton
            className="button"
            data-testid="load-alone"
            reason={loading}
            onClick={() => {
              onLeave();
              loadAlone(path);
            }}
          >
            {t("macs-together.alone")}
          </ActionButton>
          <button type="button" className="quiet-button" onClick={settings}>
            {t("macs-outlook.settings")}
          </button>
        </div>
      </Part>
    );
  if (lend && origin !== "built_in")
    return <Asked path={path} atOnce={tooBig} onSettings={settings} onLeave={onLeave} />;
  if (!tooBig) return null;
  return (
    <Part>
      <p className="sheet-words" data-testid="outlook-unpaired">
        <RichText
          id="macs-outlook.unpaired"
          parts={{
            settings: (words) => (
              <button type="button" className="word-button" data-testid="pair-macs" onClick={settings}>
                {words}
              </button>
            ),
          }}
        />
      </p>
    </Part>
  );
}

function Part({ children }: { children: ReactNode }) {
  return (
    <section className="evidence outlook" aria-label={t("macs-outlook")} data-testid="outlook">
      <h3>{t("macs-outlook")}</h3>
      {children}
    </section>
  );
}

type Asking = { kind: "unasked" | "asking" } | { kind: "answered"; outlook: SpreadOutlook } | Failed;
type Failed = { kind: "failed"; error: ErrorReport };

interface AskedProps extends Pick<Props, "onLeave"> {
  path: string;
  /** Whether the Macs are asked without anybody saying so. */
  atOnce: boolean;
  onSettings: () => void;
}

/** Asks the Macs, which may take some seconds, and says what came of it. */
function Asked({ path, atOnce, onSettings, onLeave }: AskedProps) {
  const [asking, setAsking] = useState<Asking>({ kind: "unasked" });
  const latest = useRef(0);
  const ask = () => {
    latest.current += 1;
    const mine = latest.current;
    const say = (asking: Asking) => mine === latest.current && setAsking(asking);
    setAsking({ kind: "asking" });
    shell.spreadOutlook(path).then(
      (outlook) => say({ kind: "answered", outlook }),
      (error) => say({ kind: "failed", error: reportOf(error) }),
    );
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: each model is asked about once
  useEffect(() => {
    if (atOnce) ask();
    return () => {
      latest.current += 1;
    };
  }, [path, atOnce]);
  const again = (
    <button type="button" className="button" data-testid="ask-again" onClick={ask}>
      {t("macs-outlook.again")}
    </button>
  );
  return (
    <Part>
      {asking.kind === "unasked" && (
        <button type="button" className="button" data-testid="use-other-macs" onClick={ask}>
          {t("macs-outlook.use")}
        </button>
      )}
      <div aria-live="polite">
        {asking.kind === "asking" && <p className="sheet-state">{t("macs-outlook.asking")}</p>}
        {asking.kind === "answered" && (
          <Outlook
            outlook={asking.outlook}
            again={
              <>
                {again}
                <button type="button" className="quiet-button" onClick={onSettings}>
                  {t("macs-outlook.settings")}
                </button>
              </>
            }
            onLoad={() => {
              onLeave();
              loadOverMacs(path);
            }}
          />
        )}
      </div>
      {asking.kind === "failed" && <ErrorNote error={asking.error} testId="outlook-error" actions={again} />}
    </Part>
  );
}

interface OutlookProps {
  outlook: SpreadOutlook;
  /** What can be done where it is not to be. */
  again: ReactNode;
  onLoad: () => void;
}

function Outlook({ outlook, again, onLoad }: OutlookProps) {
  const loading = useReason("open");
  if (outlook.outlook !== "fits") {
    const [words, hint] = without(outlook);
    return (
      <>
        <p className="sheet-words" data-testid="outlook-words">
          {words}
        </p>
        <p className="outlook-hint numbers">{hint}</p>
        <div className="outlook-foot">{again}</div>
      </>
    );
  }
  const { spreading, left_out: leftOut } = outlook;
  const { parts, context, tokens_per_second: speed } = spreading;
  return (
    <>
      <p className="sheet-words" data-testid="outlook-words">
        {t("macs-outlook.fits", { macs: together(parts) })}
      </p>
      <SplitBar parts={parts} layers={parts.map(({ layers }) => layers)} />
      <p className="outlook-hint numbers" data-testid="outlook-figures">
        {t("macs-outlook.figures", { context: thousands(context), rate: rate(speed) })}
      </p>
      {leftOut.length > 0 && (
        <p className="outlook-hint">{t("macs-outlook.left-out", { macs: listed(leftOut) })}</p>
      )}
      <div className="outlook-foot">
        <ActionButton
          className="button primary"
          data-testid="load-over-macs"
          reason={loading}
          onClick={onLoad}
        >
          {t("macs-outlook.load")}
        </ActionButton>
      </div>
    </>
  );
}

/** Why it is not to be, and what helps. */
function without(outlook: Exclude<SpreadOutlook, { outlook: "fits" }>): [words: string, hint: string] {
  switch (outlook.outlook) {
    case "lacking": {
      const { macs } = outlook;
      return [
        t("macs-outlook.lacking", { macs: listed(macs), count: macs.length }),
        t("macs-outlook.lacking-hint"),
      ];
    }
    case "too_big":
      return [
        t("macs-outlook.too-big"),
        t("macs-outlook.too-big-hint", { size: bytes(outlook.usable_bytes) }),
      ];
    case "nobody":
      return [t("macs-outlook.nobody"), t("macs-outlook.nobody-hint")];
  }
}
