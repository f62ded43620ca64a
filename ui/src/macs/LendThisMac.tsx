import { useState } from "react";
import type { Lending, LendingSettings, Loan, OtherMacs, StoredLayers } from "../bridge/bindings";
import { shell } from "../bridge/bridge";
import { ErrorNote } from "../frame/ErrorNote";
import { t } from "../language/text";
import { useCountdown } from "../models/useCountdown";
import { ActionButton } from "../primitives/ActionButton";
import { CopyButton } from "../primitives/CopyButton";
import { bytes, commas, shortDate } from "../primitives/format";
import { PortRow } from "../settings/PortRow";
import { Group, Row, SelectRow, SwitchRow } from "../settings/Row";
import { useDeed } from "../settings/useDeed";
import { useStore } from "../state/store";
import { layersLabel, modelOf, timeLabel } from "./labels";

/** How much a model of another Mac may take here, in GB. */
const SIZES = [8, 16, 32, 64, 128, 256];
/** How much of the disk layers of others may take here, in GB. */
const KEPT = [20, 50, 100, 200, 500];
/** Nothing is kept. */
const NONE = "none";
/** No limit but that of this Mac itself. */
const ALL = "";

/** Whether and on what terms other Macs use this one, and who does now. */
export function LendThisMac({ macs: { lending, usable_bytes: usable } }: { macs: OtherMacs }) {
  const { settings, address, error, in_use: loan, stored } = lending;
  const { error: failed, run } = useDeed();
  const change = (change: Partial<LendingSettings>) =>
    run(() => shell.setLending({ ...useStore.getState().macs.lending.settings, ...change }));
  const starts = settings.on && address === null && error === null;
  return (
    <Group name={t("macs-lend")}>
      <SwitchRow
        name={t("macs-lend-on")}
        words={t(starts ? "macs-lend-on.starting" : settings.on ? "macs-lend-on.on" : "macs-lend-on.off")}
        on={settings.on}
        testId="lend-on"
        onChange={(on) => change({ on })}
      />
      {failed ? (
        <ErrorNote error={failed} testId="lend-failed" />
      ) : (
        settings.on && error && <ErrorNote error={error} testId="lend-error" />
      )}
      {loan && <InUse loan={loan} onStop={() => run(shell.takeMacBack)} />}
      {settings.on && (
        <>
          {address !== null && (
            <Row name={t("macs-lend-address")} words={t("macs-lend-address.words")}>
              <code className="api-value" data-testid="lend-address">
                {address}
              </code>
              <CopyButton
                className="button"
                text={address}
                label={t("macs-lend-address.copy")}
                testId="copy-lend-address"
              />
            </Row>
          )}
          <OpenForPairing lending={lending} run={run} />
          <SelectRow
            name={t("macs-lend-memory")}
            words={t("macs-lend-memory.words")}
            value={String(settings.most_gigabytes ?? ALL)}
            options={memoryChoices(settings.most_gigabytes, usable)}
            testId="lend-memory"
            onChange={(most) => change({ most_gigabytes: most === ALL ? null : Number(most) })}
          />
          <SelectRow
            name={t("macs-lend-keep")}
            words={t("macs-lend-keep.words")}
            value={String(settings.keep_gigabytes ?? NONE)}
            options={keepChoices(settings.keep_gigabytes)}
            testId="lend-keep"
            onChange={(most) => change({ keep_gigabytes: most === NONE ? null : Number(most) })}
          />
          <SwitchRow
            name={t("macs-lend-power")}
            words={t("macs-lend-power.words")}
            on={settings.only_on_power}
            testId="lend-power"
            onChange={(only_on_power) => change({ only_on_power })}
          />
          <SwitchRow
            name={t("macs-lend-unused")}
            words={t("macs-lend-unused.words")}
            on={settings.only_unused}
            testId="lend-unused"
            onChange={(only_unused) => change({ only_unused })}
          />
          <PortRow
            key={settings.port}
            port={settings.port}
            testId="lend-port"
            onUse={(port) => change({ port })}
          />
        </>
      )}
      {stored.map((layers) => (
        <Stored key={layers.id} layers={layers} onRemove={() => run(() => shell.removeLayers(layers.id))} />
      ))}
    </Group>
  );
}

/** How much of the disk layers may take; what is chosen is always among it. */
function keepChoices(chosen: number | null): (readonly [string, string])[] {
  const all = [...new Set(chosen === null ? KEPT : [...KEPT, chosen])].sort((a, b) => a - b);
  return [
    [NONE, t("macs-lend-keep.none")] as const,
    ...all.map((size) => [String(size), t("macs-lend-keep.most", { size: `${size} GB` })] as const),
  ];
}

/** Layers that another Mac has given this one. */
function Stored({ layers: { model, mac, layers, bytes: size, in_use: inUse }, onRemove }: StoredProps) {
  return (
    <div className="setting" data-testid="stored-layers">
      <div className="setting-text">
        <p className="setting-name">{t("macs-stored", { model: modelOf({ path: model }), mac })}</p>
        <p className="setting-words numbers">{commas([layersLabel(layers), bytes(size)])}</p>
      </div>
      <div className="row-actions">
        <ActionButton
          className="button"
          data-testid="remove-layers"
          aria-label={t("macs-stored.remove-of", { model: modelOf({ path: model }) })}
          reason={inUse ? t("macs-stored.in-use") : null}
          onClick={onRemove}
        >
          {t("macs-stored.remove")}
        </ActionButton>
      </div>
    </div>
  );
}

interface StoredProps {
  layers: StoredLayers;
  onRemove: () => void;
}

/** All that this Mac gives models, and less; what is chosen is always among it. */
function memoryChoices(chosen: number | null, usable: number): (readonly [string, string])[] {
  const less = SIZES.filter((size) => usable === 0 || size * 1e9 < usable);
  const all = [...new Set(chosen === null ? less : [...less, chosen])].sort((a, b) => a - b);
  return [
    [
      ALL,
      usable > 0 ? t("macs-lend-memory.all-of", { size: bytes(usable) }) : t("macs-lend-memory.all"),
    ] as const,
    ...all.map((size) => [String(size), `${size} GB`] as const),
  ];
}

/** Who uses this Mac now, and an end to it. */
function InUse({ loan: { mac, model, since }, onStop }: { loan: Loan; onStop: () => void }) {
  const time = shortDate(since, Date.now());
  return (
    <div className="setting" role="status" data-testid="loan">
      <div className="setting-text">
        <p className="setting-name">{t("macs-loan", { mac, model: modelOf({ path: model }), time })}</p>
        <p className="setting-words">{t("macs-loan.words")}</p>
      </div>
      <div className="row-actions">
        <button type="button" className="button" data-testid="take-back" onClick={onStop}>
          {t("macs-loan.stop")}
        </button>
      </div>
    </div>
  );
}

interface OpenProps {
  lending: Lending;
  run: (act: () => Promise<unknown>) => Promise<boolean>;
}

/** Lets a Mac pair for a while. */
function OpenForPairing({ lending: { address, open_until: until }, run }: OpenProps) {
  if (until !== null && until > Date.now())
    return <Opened key={until} until={until} onStop={() => run(shell.closePairing)} />;
  return (
    <Row name={t("macs-lend-pair")} words={t("macs-lend-pair.words")}>
      <ActionButton
        className="button"
        data-testid="open-for-pairing"
        reason={address === null ? t("macs-lend-pair.not-yet") : null}
        onClick={() => run(shell.openForPairing)}
      >
        {t("macs-lend-pair.button")}
      </ActionButton>
    </Row>
  );
}

function Opened({ until, onStop }: { until: number; onStop: () => void }) {
  const [seconds] = useState(() => Math.ceil((until - Date.now()) / 1000));
  const time = timeLabel(useCountdown(seconds));
  return (
    <Row
      name={t("macs-lend-pair")}
      words={
        <span className="numbers" data-testid="open-words">
          {t("macs-lend-pair.open", { time })}
        </span>
      }
    >
      <button type="button" className="button" data-testid="stop-pairing" onClick={onStop}>
        {t("macs-lend-pair.stop")}
      </button>
    </Row>
  );
}
