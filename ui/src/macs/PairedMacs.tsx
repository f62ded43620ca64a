import { type FormEvent, useId, useState } from "react";
import type { MacState, OtherMacs, PairedMac } from "../bridge/bindings";
import { shell } from "../bridge/bridge";
import { ErrorNote } from "../frame/ErrorNote";
import { t } from "../language/text";
import { line } from "../models/labels";
import { ActionButton } from "../primitives/ActionButton";
import { bytes } from "../primitives/format";
import { Icon, type IconName } from "../primitives/icons";
import { MenuButton, type MenuEntry } from "../primitives/MenuButton";
import { SureSheet } from "../settings/SureSheet";
import { useDeed } from "../settings/useDeed";
import { linkLabel } from "./labels";

/** This Mac, and those that are paired with it. */
export function PairedMacs({ macs }: { macs: OtherMacs }) {
  const { name, chip, usable_bytes: usable, paired } = macs;
  return (
    <section className="settings-group" aria-label={t("macs-paired")}>
      <h2>{t("macs-paired")}</h2>
      <ul>
        <li className="other-mac" data-testid="this-mac">
          <Sign icon="laptop" />
          <div className="setting-text">
            <p className="setting-name">{t("macs-this")}</p>
            <p className="setting-words numbers">
              {line(name, chip, usable > 0 && t("macs-this.memory", { size: bytes(usable) }))}
            </p>
          </div>
          <span className="soft mac-role">{t("macs-this.leads")}</span>
        </li>
        {paired.map((mac) => (
          <Paired key={mac.key} mac={mac} macs={macs} />
        ))}
      </ul>
      {paired.length === 0 && (
        <p className="setting-words" data-testid="no-macs">
          {t("macs-paired.none")}
        </p>
      )}
    </section>
  );
}

function Sign({ icon }: { icon: IconName }) {
  return (
    <span className="mac-sign" aria-hidden="true">
      <Icon name={icon} />
    </span>
  );
}

/** What a paired Mac is, as far as it is `known`. */
function facts({ lends, borrows, link }: PairedMac, known: MacState): string {
  const here = known.state === "here" ? known : null;
  return line(
    here?.chip ?? null,
    here !== null && lends && t("macs-free", { size: bytes(here.free_bytes) }),
    lends && link !== null && linkLabel(link),
    // Where it does not lend itself, that is all there is to say of it.
    borrows ? t("macs-may-use") : !lends && t("macs-may-use.not"),
  );
}

function Paired({ mac, macs }: { mac: PairedMac; macs: OtherMacs }) {
  const { key, name, lends, borrows, state } = mac;
  const [open, setOpen] = useState<"address" | "forget" | null>(null);
  const { busy, error, run } = useDeed();
  // While it is asked again, what it said before stays.
  const [known, setKnown] = useState(state);
  if (state.state !== "asking" && state !== known) setKnown(state);
  const isUsed =
    lends ||
    macs.lending.in_use?.key === key ||
    macs.spread.some(({ parts }) => parts.some((part) => part.key === key));
  const forget = () => run(() => shell.forgetMac(key));
  const allow = () => run(() => shell.allowMac(key, !borrows));
  const entries: MenuEntry[] = [
    {
      name: t("macs-forget.ask"),
      reason: null,
      onSelect: () => setOpen("forget"),
    },
  ];
  if (!isUsed) entries[0] = { name: t("macs-forget"), reason: null, onSelect: forget };
  if (lends)
    entries.unshift(
      {
        name: t("macs-test"),
        reason: busy || state.state === "asking" ? t("macs-state.asking") : null,
        onSelect: () => run(() => shell.testMacLink(key)),
      },
      { name: t("macs-address"), reason: null, onSelect: () => setOpen("address") },
      { name: t(borrows ? "macs-allow.no-longer" : "macs-allow"), reason: null, onSelect: allow },
    );
  return (
    <li className="other-mac" data-testid="paired-mac" data-state={state.state}>
      <Sign icon="desktop" />
      <div className="setting-text">
        <p className="setting-name">
          {name}
          <span aria-live="polite">
            <StateChip mac={mac} />
          </span>
        </p>
        <p className="setting-words numbers" data-testid="mac-facts">
          {facts(mac, known)}
        </p>
      </div>
      <div className="row-actions">
        {!lends && (
          <button
            type="button"
            role="switch"
            aria-checked={borrows}
            aria-label={t("macs-may-use.switch", { name })}
            className="switch"
            data-testid="allow-mac"
            onClick={allow}
          />
        )}
        <MenuButton label={t("macs-more", { name })} testId="mac-more" entries={entries}>
          <Icon name="more" />
        </MenuButton>
      </div>
      {open === "address" && <Address mac={mac} onClose={() => setOpen(null)} />}
      {lends && state.state === "away" && <ErrorNote error={state.error} testId="mac-away" />}
      {error && <ErrorNote error={error} testId="mac-error" />}
      <SureSheet
        open={open === "forget"}
        onClose={() => setOpen(null)}
        title={t("macs-forget-sheet", { name })}
        words={t(lends ? "macs-forget-sheet.lends" : "macs-forget-sheet.borrows")}
        sure={t("macs-forget-sheet.sure")}
        testId="forget-mac-sheet"
        onSure={forget}
      />
    </li>
  );
}

/** Whether it answers, in a word; nothing where it was not asked. */
function StateChip({ mac: { lends, state } }: { mac: PairedMac }) {
  switch (state.state) {
    case "here":
      return <span className="badge in-use">{t("macs-state.here")}</span>;
    case "asking":
      return <span className="badge">{t("macs-state.asking")}</span>;
    case "away":
      return lends ? <span className="badge away">{t("macs-state.away")}</span> : null;
    case "unknown":
      return null;
  }
}

/** Where a Mac is found, to be typed. */
function Address({ mac: { key, name, address }, onClose }: { mac: PairedMac; onClose: () => void }) {
  const [text, setText] = useState(address ?? "");
  const { busy, error, run } = useDeed();
  const id = useId();
  const typed = text.trim();
  const reason = typed === "" ? t("macs-address.missing") : typed === address ? t("macs-address.same") : null;
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (reason !== null || busy) return;
    if (await run(() => shell.setMacAddress(key, typed))) onClose();
  };
  return (
    <form className="mac-form" onSubmit={submit}>
      <label className="off-screen" htmlFor={id}>
        {t("macs-address.label", { name })}
      </label>
      <input
        id={id}
        className="field"
        autoComplete="off"
        spellCheck={false}
        // biome-ignore lint/a11y/noAutofocus: the person has just asked for it
        autoFocus
        placeholder={t("macs-pair.example")}
        value={text}
        data-testid="mac-address"
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => event.key === "Escape" && onClose()}
      />
      <ActionButton type="submit" className="button" data-testid="set-mac-address" reason={reason}>
        {t("macs-address.save")}
      </ActionButton>
      <button type="button" className="quiet-button" onClick={onClose}>
        {t("macs-address.cancel")}
      </button>
      {error && <ErrorNote error={error} testId="mac-address-error" />}
    </form>
  );
}
