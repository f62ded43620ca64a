import { type FormEvent, useEffect, useId, useRef, useState } from "react";
import type { MacPairing, OtherMacs } from "../bridge/bindings";
import { shell } from "../bridge/bridge";
import { ErrorNote } from "../frame/ErrorNote";
import { t } from "../language/text";
import { useCountdown } from "../models/useCountdown";
import { ActionButton } from "../primitives/ActionButton";
import { useDeed } from "../settings/useDeed";
import { grouped, timeLabel } from "./labels";

/** Macs near by, and an address to type; and how far the pairing is that is under way. */
export function PairMac({ macs: { near, pairing } }: { macs: OtherMacs }) {
  const { busy, error, run } = useDeed();
  const runs = pairing?.stage === "asking" || pairing?.stage === "compare";
  const reason = runs || busy ? t("macs-pair.busy") : null;
  const pair = (address: string) => run(() => shell.pairWithMac(address));
  return (
    <section className="settings-group" aria-label={t("macs-pair")} data-testid="macs-pair">
      <h2>{t("macs-pair")}</h2>
      <div aria-live="polite">{pairing && <Pairing pairing={pairing} />}</div>
      {error && <ErrorNote error={error} testId="pair-error" />}
      {near.length === 0 ? (
        <p className="setting-words">{t("macs-pair.none")}</p>
      ) : (
        <ul>
          {near.map(({ name, address }) => (
            <li key={address} className="setting" data-testid="near-mac">
              <div className="setting-text">
                <p className="setting-name">{name}</p>
                <p className="setting-words numbers">{address}</p>
              </div>
              <ActionButton
                className="button"
                aria-label={t("macs-pair.button-for", { name })}
                data-testid="pair-near"
                reason={reason}
                onClick={() => pair(address)}
              >
                {t("macs-pair.button")}
              </ActionButton>
            </li>
          ))}
        </ul>
      )}
      <ByAddress reason={reason} onPair={pair} />
    </section>
  );
}

interface ByAddressProps {
  /** Why no pairing can begin now; null if one can. */
  reason: string | null;
  onPair: (address: string) => Promise<boolean>;
}

/** A Mac that is not found is reached by the address that it shows. */
function ByAddress({ reason, onPair }: ByAddressProps) {
  const [text, setText] = useState("");
  const id = useId();
  const typed = text.trim();
  const cannot = reason ?? (typed === "" ? t("macs-pair.empty") : null);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (cannot === null && (await onPair(typed))) setText("");
  };
  return (
    <form className="mac-form" onSubmit={submit}>
      <label className="off-screen" htmlFor={id}>
        {t("macs-pair.field")}
      </label>
      <input
        id={id}
        className="field"
        autoComplete="off"
        spellCheck={false}
        placeholder={t("macs-pair.example")}
        value={text}
        data-testid="pair-address"
        onChange={(event) => setText(event.target.value)}
      />
      <ActionButton type="submit" className="button" data-testid="pair-by-address" reason={cannot}>
        {t("macs-pair.button")}
      </ActionButton>
    </form>
  );
}

/** How far a pairing is. Where it comes to a person, it comes into view. */
function Pairing({ pairing }: { pairing: MacPairing }) {
  const place = useRef<HTMLDivElement>(null);
  const { error, run } = useDeed();
  // biome-ignore lint/correctness/useExhaustiveDependencies: each stage may be begun by the other Mac
  useEffect(() => place.current?.scrollIntoView?.({ block: "nearest" }), [pairing.stage]);
  const close = () => run(shell.closePairing);
  return (
    <div className="pairing" ref={place} data-testid="pairing" data-stage={pairing.stage}>
      {pairing.stage === "compare" ? (
        <Compare
          key={pairing.until}
          pairing={pairing}
          onAnswer={(same) => run(() => shell.answerPairing(same))}
          onCancel={close}
        />
      ) : pairing.stage === "failed" ? (
        <ErrorNote
          error={pairing.error}
          testId="pairing-failed"
          actions={
            <button type="button" className="button" data-testid="close-pairing" onClick={close}>
              {t("macs-pairing.close")}
            </button>
          }
        />
      ) : (
        <>
          <div className="setting-text">
            <p className="setting-name">
              {pairing.stage === "asking"
                ? t("macs-pairing.asking", { whom: pairing.whom })
                : t("macs-pairing.paired", { name: pairing.name })}
            </p>
            {pairing.stage === "paired" && !pairing.borrows && (
              <p className="setting-words">{t("macs-pairing.trust")}</p>
            )}
          </div>
          <button type="button" className="button" data-testid="close-pairing" onClick={close}>
            {t(pairing.stage === "asking" ? "macs-pairing.cancel" : "macs-pairing.close")}
          </button>
        </>
      )}
      {error && <ErrorNote error={error} testId="pairing-error" />}
    </div>
  );
}

interface CompareProps {
  pairing: Extract<MacPairing, { stage: "compare" }>;
  onAnswer: (same: boolean) => void;
  onCancel: () => void;
}

/** The digits that both Macs show, and whether they are the same. */
function Compare({ pairing: { name, digits, until, borrows, confirmed }, onAnswer, onCancel }: CompareProps) {
  const [seconds] = useState(() => Math.max(0, Math.ceil((until - Date.now()) / 1000)));
  const time = timeLabel(useCountdown(seconds));
  return (
    <>
      {/* A pause between the digits is not heard, so that they are said one by one. */}
      <p className="pairing-digits numbers" data-testid="digits">
        <span aria-hidden="true">{grouped(digits)}</span>
        <span className="off-screen">{t("macs-pairing.digits", { digits: [...digits].join(" ") })}</span>
      </p>
      <div className="setting-text">
        <p className="setting-name">
          {confirmed ? t("macs-pairing.waiting") : t("macs-pairing.question", { name })}
        </p>
        {/* What counts down is not told each second. */}
        <p className="setting-words numbers" aria-live="off" data-testid="pairing-words">
          {confirmed ? t("macs-pairing.waiting-time", { name, time }) : t("macs-pairing.both", { time })}
        </p>
        <p className="setting-words">
          {borrows ? t("macs-pairing.borrows", { name }) : t("macs-pairing.lends", { name })}
        </p>
      </div>
      <div className="row-actions">
        {confirmed ? (
          <button type="button" className="button" data-testid="close-pairing" onClick={onCancel}>
            {t("macs-pairing.cancel")}
          </button>
        ) : (
          <>
            <button
              type="button"
              className="button"
              data-testid="digits-differ"
              onClick={() => onAnswer(false)}
            >
              {t("macs-pairing.no")}
            </button>
            <button
              type="button"
              className="button primary"
              data-testid="digits-same"
              onClick={() => onAnswer(true)}
            >
              {t("macs-pairing.same")}
            </button>
          </>
        )}
      </div>
    </>
  );
}
