import { type FormEvent, useId, useState } from "react";
import type { ApiAlias, LocalApi } from "../bridge/bindings";
import { t } from "../language/text";
import { ActionButton } from "../primitives/ActionButton";
import { Icon } from "../primitives/icons";
import { changeLocalApi } from "./localApi";
import { PortRow } from "./PortRow";
import { SelectRow, SwitchRow } from "./Row";

/** What the alias of the loaded model is called in a list of models. */
const LOADED = "";
/** How many replies may be written at the same time. */
const ROWS = [1, 2, 4, 8, 16, 32];

/** What few people change. */
export function ApiMore({ api }: { api: LocalApi }) {
  const [open, setOpen] = useState(false);
  return (
    <section className="settings-group" aria-label={t("settings-more")}>
      <button
        type="button"
        className="quiet-button api-more"
        aria-expanded={open}
        data-testid="api-more"
        onClick={() => setOpen(!open)}
      >
        <Icon name={open ? "down" : "right"} />
        {t("settings-more")}
      </button>
      {open && <Opened api={api} />}
    </section>
  );
}

function Opened({ api: { settings, offered } }: { api: LocalApi }) {
  const rows = ROWS.includes(settings.rows) ? ROWS : [...ROWS, settings.rows].sort((a, b) => a - b);
  return (
    <>
      <PortRow
        key={settings.port}
        port={settings.port}
        testId="api-port"
        onUse={(port) => changeLocalApi({ port })}
      />
      <SwitchRow
        name={t("settings-needs-token")}
        words={t("settings-needs-token.words")}
        on={settings.needs_token}
        testId="api-needs-token"
        onChange={(needs_token) => changeLocalApi({ needs_token })}
      />
      <SwitchRow
        name={t("settings-network")}
        words={t("settings-network.words")}
        on={settings.network}
        testId="api-network"
        onChange={(network) => changeLocalApi(network ? { network, needs_token: true } : { network })}
      />
      <SwitchRow
        name={t("settings-may-load")}
        words={t("settings-may-load.words")}
        on={settings.may_load}
        testId="api-may-load"
        onChange={(may_load) => changeLocalApi({ may_load })}
      />
      <SelectRow
        name={t("settings-rows")}
        words={t("settings-rows.words")}
        value={String(settings.rows)}
        options={rows.map((rows) => [String(rows), String(rows)])}
        testId="api-rows"
        onChange={(rows) => changeLocalApi({ rows: Number(rows) })}
      />
      <SelectRow
        name={t("settings-api-sampling")}
        words={t("settings-api-sampling.words")}
        value={settings.sampling}
        options={[
          ["app", t("settings-api-sampling.app")],
          ["model", t("settings-api-sampling.model")],
        ]}
        testId="api-sampling"
        onChange={(sampling) => changeLocalApi({ sampling: sampling === "model" ? "model" : "app" })}
      />
      <Origins origins={settings.origins} />
      <Aliases aliases={settings.aliases} offered={offered} />
    </>
  );
}

/** Pages and apps in browsers that may use it. */
function Origins({ origins }: { origins: string[] }) {
  return (
    <section className="api-list" aria-label={t("settings-origins")}>
      <p className="setting-name">{t("settings-origins")}</p>
      <p className="setting-words">{t("settings-origins.words")}</p>
      <ul>
        {origins.map((origin) => (
          <li key={origin} data-testid="api-origin">
            <code className="api-value">{origin}</code>
            <Remove
              what={origin}
              onClick={() => changeLocalApi({ origins: origins.filter((other) => other !== origin) })}
            />
          </li>
        ))}
      </ul>
      <Add
        label={t("settings-origins.add")}
        placeholder="https://example.com"
        testId="api-origin-add"
        taken={origins}
        normal={(origin) => origin.toLowerCase().replace(/\/+$/, "")}
        onAdd={(origin) => changeLocalApi({ origins: [...origins, origin] })}
      />
    </section>
  );
}

interface AliasesProps {
  aliases: ApiAlias[];
  /** What programs call the models that are here. */
  offered: string[];
}

/** Names of other models, and which model they mean here. */
function Aliases({ aliases, offered }: AliasesProps) {
  const change = (aliases: ApiAlias[]) => changeLocalApi({ aliases });
  return (
    <section className="api-list" aria-label={t("settings-aliases")}>
      <p className="setting-name">{t("settings-aliases")}</p>
      <p className="setting-words">{t("settings-aliases.words")}</p>
      <ul>
        {aliases.map((alias) => (
          <li key={alias.name} data-testid="api-alias">
            <code className="api-value">{alias.name}</code>
            <span className="select-place">
              <select
                className="select"
                aria-label={t("settings-aliases.model", { name: alias.name })}
                value={alias.model ?? LOADED}
                onChange={({ target: { value } }) =>
                  change(
                    aliases.map((other) =>
                      other.name === alias.name
                        ? { ...other, model: value === LOADED ? null : value }
                        : other,
                    ),
                  )
                }
              >
                <option value={LOADED}>{t("settings-aliases.loaded")}</option>
                {[...new Set([...offered, ...(alias.model ? [alias.model] : [])])].map((id) => (
                  <option key={id}>{id}</option>
                ))}
              </select>
              <Icon name="down" />
            </span>
            <Remove
              what={alias.name}
              onClick={() => change(aliases.filter((other) => other.name !== alias.name))}
            />
          </li>
        ))}
      </ul>
      <Add
        label={t("settings-aliases.add")}
        placeholder="gemini-*"
        testId="api-alias-add"
        taken={aliases.map(({ name }) => name)}
        refusal={(name) => (namesModel(name, offered) ? t("settings-aliases.taken") : null)}
        normal={(name) => name.toLowerCase()}
        onAdd={(name) => change([...aliases, { name, model: null }])}
      />
    </section>
  );
}

/** Whether a name means a model that is here, or the loaded one, before any alias. */
function namesModel(name: string, offered: string[]): boolean {
  const names = offered.flatMap((id) => [id, id.slice(id.lastIndexOf("/") + 1)]);
  return ["default", ...names].some((model) => model.toLowerCase() === name);
}

function Remove({ what, onClick }: { what: string; onClick: () => void }) {
  return (
    <button
      type="button"
      className="quiet-button"
      aria-label={t("settings-list.remove-one", { what })}
      title={t("settings-list.remove")}
      onClick={onClick}
    >
      <Icon name="close" />
    </button>
  );
}

interface AddProps {
  label: string;
  placeholder: string;
  testId: string;
  /** What is there already. */
  taken: string[];
  /** Why something cannot be added that is not there yet, if it cannot. */
  refusal?: (text: string) => string | null;
  /** The one way in which what is meant is written. */
  normal: (text: string) => string;
  onAdd: (text: string) => void;
}

/** A line to add to a list. */
function Add({ label, placeholder, testId, taken, refusal, normal, onAdd }: AddProps) {
  const [text, setText] = useState("");
  const id = useId();
  const typed = normal(text.trim());
  const reason =
    typed === ""
      ? t("settings-list.empty")
      : taken.some((one) => normal(one) === typed)
        ? t("settings-list.there")
        : (refusal?.(typed) ?? null);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (reason !== null) return;
    onAdd(typed);
    setText("");
  };
  return (
    <form className="api-add" onSubmit={submit}>
      <label className="off-screen" htmlFor={id}>
        {label}
      </label>
      <input
        id={id}
        className="field"
        autoComplete="off"
        spellCheck={false}
        placeholder={placeholder}
        value={text}
        data-testid={testId}
        onChange={(event) => setText(event.target.value)}
      />
      <ActionButton type="submit" className="button" data-testid={`${testId}-button`} reason={reason}>
        {t("settings-list.add")}
      </ActionButton>
    </form>
  );
}
