import { useState } from "react";
import { type LocalApi, type LocalApiState, TOKEN_SHOWN } from "../bridge/bindings";
import { ErrorNote } from "../frame/ErrorNote";
import { t } from "../language/text";
import { rate } from "../primitives/format";
import { Icon } from "../primitives/icons";
import { useModel, useStore } from "../state/store";
import { ApiMore } from "./ApiMore";
import { ApiRequests } from "./ApiRequests";
import { changeLocalApi, copyForProgram, renewApiToken, takeFreePort } from "./localApi";
import { Page } from "./Page";
import { Group, Row, SwitchRow } from "./Row";
import { type Filled, snippets } from "./snippets";

/** How other programs come to use the model, and what they ask for. */
export function LocalApiPage() {
  const api = useStore((state) => state.local_api);
  const { settings, state } = api;
  const port = state.state === "on" ? state.port : settings.port;
  const address = `http://localhost:${port}`;
  const context = useModel()?.context_length ?? null;
  const filled: Filled = {
    address,
    model: api.model ?? "default",
    context,
    needsToken: settings.needs_token,
  };
  return (
    <Page title={t("settings-page.local-api")} testId="settings-local_api">
      <Group>
        <SwitchRow
          name={t("settings-api")}
          words={t(settings.on ? "settings-api.words-on" : "settings-api.words-off")}
          on={settings.on}
          testId="api-on"
          onChange={(on) => changeLocalApi({ on })}
        />
        <Standing api={api} address={address} />
        {settings.on && (
          <>
            <Row name={t("settings-address")} words={t("settings-address.words")}>
              <code className="api-value">{address}/v1</code>
              <CopyForProgram
                text={`${address}/v1`}
                name={t("settings-address.copy")}
                testId="copy-address"
              />
            </Row>
            {settings.network && api.network_name && (
              <Row name={t("settings-network-address")} words={t("settings-network-address.words")}>
                <code className="api-value" data-testid="network-address">
                  {`http://${api.network_name}:${port}/v1`}
                </code>
                <CopyForProgram
                  text={`http://${api.network_name}:${port}/v1`}
                  name={t("settings-network-address.copy")}
                  testId="copy-network-address"
                />
              </Row>
            )}
            {settings.needs_token && <Token api={api} />}
          </>
        )}
      </Group>
      {settings.on && <Snippets filled={filled} />}
      {(settings.on || api.requests.ended.length > 0) && <ApiRequests requests={api.requests} />}
      <ApiMore api={api} />
    </Page>
  );
}

/** Whether it listens, in one line, and what helps if it does not. */
function Standing({ api, address }: { api: LocalApi; address: string }) {
  const { state, requests } = api;
  if (state.state === "failed") return <ErrorNote error={state.error} testId="api-failed" />;
  return (
    <div className="setting" data-testid="api-state" data-state={state.state}>
      <p className="setting-text setting-name" aria-live="polite">
        {standing(state, address)}
        {requests.live.length > 0 && (
          <span className="soft numbers">
            {` · ${t("settings-api-state.requests", { count: requests.live.length })}`}
            {requests.tokens_per_second > 0 &&
              ` · ${t("settings-api-state.rate", { rate: rate(requests.tokens_per_second) })}`}
          </span>
        )}
      </p>
      {state.state === "port_in_use" && state.free !== null && (
        <div className="row-actions">
          <button type="button" className="button" data-testid="take-free-port" onClick={takeFreePort}>
            {t("settings-api-state.take-port", { port: `${state.free}` })}
          </button>
        </div>
      )}
    </div>
  );
}

function standing(state: Exclude<LocalApiState, { state: "failed" }>, address: string): string {
  switch (state.state) {
    case "off":
      return t("settings-api-state.off");
    case "starting":
      return t("settings-api-state.starting");
    case "on":
      return t("settings-api-state.on", { address });
    case "port_in_use": {
      const { holder } = state;
      const port = `${state.port}`;
      return holder === null
        ? t("settings-api-state.port-taken", { port })
        : t("settings-api-state.port-taken-by", { name: holder.name, pid: `${holder.pid}`, port });
    }
  }
}

/** The token is never here: the dots become the token where it is copied. */
function Token({ api }: { api: LocalApi }) {
  const [asks, setAsks] = useState(false);
  if (asks)
    return (
      <Row name={t("settings-renew-token")} words={t("settings-renew-token.words")}>
        <button type="button" className="button" onClick={() => setAsks(false)}>
          {t("settings-renew-token.keep")}
        </button>
        <button
          type="button"
          className="button"
          data-testid="renew-token-sure"
          onClick={() => {
            setAsks(false);
            renewApiToken();
          }}
        >
          {t("settings-renew-token.sure")}
        </button>
      </Row>
    );
  return (
    <Row
      name={t("settings-api-token")}
      words={t(api.token === "file" ? "settings-api-token.in-file" : "settings-api-token.in-keychain")}
    >
      <code className="api-value">
        <span aria-hidden="true">{TOKEN_SHOWN}</span>
        <span className="off-screen">{t("settings-api-token.hidden")}</span>
      </code>
      <CopyForProgram text={TOKEN_SHOWN} name={t("settings-api-token.copy")} testId="copy-token" />
      <button
        type="button"
        className="button"
        aria-label={t("settings-api-token.renew-label")}
        data-testid="renew-token"
        onClick={() => setAsks(true)}
      >
        {t("settings-api-token.renew")}
      </button>
    </Row>
  );
}

/** What is pasted into other programs. */
function Snippets({ filled }: { filled: Filled }) {
  const [at, setAt] = useState(0);
  const programs = snippets();
  const snippet = programs[at];
  if (!snippet) return null;
  const text = snippet.text(filled);
  return (
    <section className="settings-group" aria-label={t("settings-snippets")}>
      <div className="api-snippets-head">
        <h2>{t("settings-snippets")}</h2>
        <div className="select-place">
          <select
            className="select"
            aria-label={t("settings-snippets.program")}
            data-testid="snippet-program"
            translate="no"
            value={at}
            onChange={(event) => setAt(Number(event.target.value))}
          >
            {programs.map(({ name }, index) => (
              <option key={name} value={index}>
                {name}
              </option>
            ))}
          </select>
          <Icon name="down" />
        </div>
        <span className="soft" translate="no">
          {snippet.place}
        </span>
        <span className="spring" />
        <CopyForProgram
          text={text}
          name={t("settings-snippets.copy", { program: snippet.name })}
          testId="copy-snippet"
        />
      </div>
      <section
        className="api-snippet"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable with the keyboard
        tabIndex={0}
        aria-label={t("settings-snippets.text", { program: snippet.name })}
        data-testid="snippet"
        translate="no"
      >
        {text}
      </section>
      <p className="part-note">
        {t(
          filled.needsToken && text.includes(TOKEN_SHOWN)
            ? "settings-snippets.note-token"
            : "settings-snippets.note",
        )}
      </p>
    </section>
  );
}

interface CopyProps {
  text: string;
  /** What it copies, for whoever does not see what it stands beside. */
  name: string;
  testId: string;
}

/** Copies a text, with the token where it shows dots, and says so for a moment. */
function CopyForProgram({ text, name, testId }: CopyProps) {
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    if (!(await copyForProgram(text))) return;
    setCopied(true);
    setTimeout(() => setCopied(false), 1600);
  };
  return (
    <button type="button" className="button" aria-label={name} data-testid={testId} onClick={copy}>
      <span aria-live="polite">{t(copied ? "settings-copy.done" : "settings-copy")}</span>
    </button>
  );
}
