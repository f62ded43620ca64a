import { useState } from "react";
import { type LocalApi, type LocalApiState, TOKEN_SHOWN } from "../bridge/bindings";
import { ErrorNote } from "../frame/ErrorNote";
import { rate } from "../primitives/format";
import { Icon } from "../primitives/icons";
import { HERE } from "../primitives/platform";
import { useModel, useStore } from "../state/store";
import { ApiMore } from "./ApiMore";
import { ApiRequests } from "./ApiRequests";
import { changeLocalApi, copyForProgram, renewApiToken, takeFreePort } from "./localApi";
import { Page } from "./Page";
import { Group, Row, SwitchRow } from "./Row";
import { type Filled, SNIPPETS } from "./snippets";

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
    <Page title="Local API" testId="settings-local_api">
      <Group>
        <SwitchRow
          name={`Let other programs on ${HERE} use the model`}
          words={`Speaks as OpenAI’s and Anthropic’s APIs do. ${
            settings.on ? "Foretoken keeps running when its window is closed" : "Off until you turn it on"
          }`}
          on={settings.on}
          testId="api-on"
          onChange={(on) => changeLocalApi({ on })}
        />
        <Standing api={api} address={address} />
        {settings.on && (
          <>
            <Row name="Address" words="Programs of Anthropic’s kind leave out /v1">
              <code className="api-value">{address}/v1</code>
              <CopyForProgram
                text={`${address}/v1`}
                label="Copy"
                name="Copy the address"
                testId="copy-address"
              />
            </Row>
            {settings.network && api.network_name && (
              <Row
                name="From other devices"
                words="They have to send the token. Nothing on the way is encrypted"
              >
                <code className="api-value" data-testid="network-address">
                  {`http://${api.network_name}:${port}/v1`}
                </code>
                <CopyForProgram
                  text={`http://${api.network_name}:${port}/v1`}
                  label="Copy"
                  name="Copy the address for other devices"
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
            {` · ${requests.live.length} ${requests.live.length === 1 ? "request" : "requests"}`}
            {requests.tokens_per_second > 0 && ` · ${rate(requests.tokens_per_second)} tok/s`}
          </span>
        )}
      </p>
      {state.state === "port_in_use" && state.free !== null && (
        <div className="row-actions">
          <button type="button" className="button" data-testid="take-free-port" onClick={takeFreePort}>
            {`Use port ${state.free}`}
          </button>
        </div>
      )}
    </div>
  );
}

function standing(state: LocalApiState, address: string): string {
  switch (state.state) {
    case "off":
      return "Off";
    case "starting":
      return "Starting…";
    case "on":
      return `On at ${address}`;
    case "port_in_use": {
      const { holder, port } = state;
      const program = holder === null ? "Another program" : `${holder.name} (process ${holder.pid})`;
      return `${program} already uses port ${port}`;
    }
    case "failed":
      return "It could not be started";
  }
}

/** The token is never here: the dots become the token where it is copied. */
function Token({ api }: { api: LocalApi }) {
  const [asks, setAsks] = useState(false);
  const words =
    api.token === "file" ? "Kept in a file that only you can read" : "Kept in the system’s keychain";
  if (asks)
    return (
      <Row name="Make a new token?" words="The one before stops working, and requests that run now end">
        <button type="button" className="button" onClick={() => setAsks(false)}>
          Keep it
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
          Make a new one
        </button>
      </Row>
    );
  return (
    <Row name="Token" words={words}>
      <code className="api-value">
        <span aria-hidden="true">{TOKEN_SHOWN}</span>
        <span className="off-screen">hidden</span>
      </code>
      <CopyForProgram text={TOKEN_SHOWN} label="Copy" name="Copy the token" testId="copy-token" />
      <button
        type="button"
        className="button"
        aria-label="Make a new token"
        data-testid="renew-token"
        onClick={() => setAsks(true)}
      >
        New
      </button>
    </Row>
  );
}

/** What is pasted into other programs. */
function Snippets({ filled }: { filled: Filled }) {
  const [at, setAt] = useState(0);
  const snippet = SNIPPETS[at];
  if (!snippet) return null;
  const text = snippet.text(filled);
  return (
    <section className="settings-group" aria-label="Ready to paste">
      <div className="api-snippets-head">
        <h2>Ready to paste</h2>
        <div className="select-place">
          <select
            className="select"
            aria-label="Program"
            data-testid="snippet-program"
            value={at}
            onChange={(event) => setAt(Number(event.target.value))}
          >
            {SNIPPETS.map(({ name }, index) => (
              <option key={name} value={index}>
                {name}
              </option>
            ))}
          </select>
          <Icon name="down" />
        </div>
        <span className="soft">{snippet.place}</span>
        <span className="spring" />
        <CopyForProgram text={text} label="Copy" name={`Copy for ${snippet.name}`} testId="copy-snippet" />
      </div>
      <section
        className="api-snippet"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable with the keyboard
        tabIndex={0}
        aria-label={`Text for ${snippet.name}`}
        data-testid="snippet"
      >
        {text}
      </section>
      <p className="part-note">
        {filled.needsToken && text.includes(TOKEN_SHOWN) ? "The token is filled in where it is copied. " : ""}
        Cursor cannot be used: its servers make the call, and they do not reach {HERE}.
      </p>
    </section>
  );
}

interface CopyProps {
  text: string;
  label: string;
  /** What it copies, for whoever does not see what it stands beside. */
  name: string;
  testId: string;
}

/** Copies a text, with the token where it shows dots, and says so for a moment. */
function CopyForProgram({ text, label, name, testId }: CopyProps) {
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    if (!(await copyForProgram(text))) return;
    setCopied(true);
    setTimeout(() => setCopied(false), 1600);
  };
  return (
    <button type="button" className="button" aria-label={name} data-testid={testId} onClick={copy}>
      <span aria-live="polite">{copied ? "Copied" : label}</span>
    </button>
  );
}
