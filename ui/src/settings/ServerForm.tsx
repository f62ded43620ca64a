import { useId, useState } from "react";
import type { ServerInfo } from "../bridge/bindings";
import { shell } from "../bridge/bridge";
import { ErrorNote } from "../frame/ErrorNote";
import { t } from "../language/text";
import { ActionButton } from "../primitives/ActionButton";
import { Segments } from "../primitives/Segments";
import { NamedValues } from "./NamedValues";
import { draftOf, formOf, keptNames, missing, type ServerDraft } from "./serverDraft";
import { useDeed } from "./useDeed";

interface Props {
  /** The server that is changed; null adds one. */
  server: ServerInfo | null;
  onClose: () => void;
}

/** A server as a person writes it down. What is typed stays until the shell has taken it. */
export function ServerForm({ server, onClose }: Props) {
  const [draft, setDraft] = useState(() => draftOf(server));
  const { busy, error, run } = useDeed();
  const change = (part: Partial<ServerDraft>) => setDraft((draft) => ({ ...draft, ...part }));
  const reason = busy ? t("settings-server-busy") : missing(draft);
  const kinds = [
    { name: t("settings-server-form.program"), value: "program" },
    { name: t("settings-server-form.http"), value: "http" },
  ] as const;
  const save = async () => {
    if (await run(() => shell.putToolServer(formOf(draft, server)))) onClose();
  };
  return (
    <form
      className="server-form"
      aria-label={server ? t("settings-server-edit.label", { name: server.name }) : t("settings-servers.add")}
      data-testid="server-form"
      onSubmit={(event) => {
        event.preventDefault();
        if (reason === null) save();
      }}
    >
      <Line
        label={t("settings-server-form.name")}
        value={draft.name}
        testId="server-name"
        autoFocus
        onChange={(name) => change({ name })}
      />
      <div>
        <Segments
          label={t("settings-server-form.kind")}
          choices={kinds}
          at={kinds.findIndex(({ value }) => value === draft.kind)}
          testId="server-kind"
          onChoose={(kind) => change({ kind })}
        />
      </div>
      {draft.kind === "program" ? (
        <ProgramFields draft={draft} kept={keptNames(server, "program")} change={change} />
      ) : (
        <AddressFields draft={draft} kept={keptNames(server, "http")} change={change} />
      )}
      <p className="setting-words">{t("settings-server-form.words")}</p>
      {error && <ErrorNote error={error} testId="server-form-error" />}
      <div className="servers-foot">
        <span className="spring" />
        <button type="button" className="button" data-testid="cancel-server" onClick={onClose}>
          {t("settings-server-form.cancel")}
        </button>
        <ActionButton type="submit" className="button primary" data-testid="save-server" reason={reason}>
          {t(server ? "settings-server-form.save" : "settings-server-form.add")}
        </ActionButton>
      </div>
    </form>
  );
}

interface FieldsProps {
  draft: ServerDraft;
  /** Names whose values are kept. */
  kept: string[];
  change: (part: Partial<ServerDraft>) => void;
}

function ProgramFields({ draft, kept, change }: FieldsProps) {
  const lines = useId();
  return (
    <>
      <Line
        label={t("settings-server-form.command")}
        value={draft.command}
        placeholder="npx"
        testId="server-command"
        code
        onChange={(command) => change({ command })}
      />
      <div className="field">
        <label htmlFor={lines}>{t("settings-server-form.arguments")}</label>
        <textarea
          id={lines}
          rows={3}
          spellCheck={false}
          autoCapitalize="off"
          autoCorrect="off"
          value={draft.lines}
          data-testid="server-arguments"
          aria-describedby={`${lines}-words`}
          onChange={(event) => change({ lines: event.target.value })}
        />
        <p id={`${lines}-words`} className="field-words">
          {t("settings-server-form.arguments-words")}
        </p>
      </div>
      <NamedValues
        kind="program"
        values={draft.variables}
        kept={kept}
        onChange={(variables) => change({ variables })}
      />
      <Line
        label={t("settings-server-form.folder")}
        value={draft.folder}
        placeholder={t("settings-server-form.folder-placeholder")}
        testId="server-folder"
        code
        onChange={(folder) => change({ folder })}
      />
    </>
  );
}

function AddressFields({ draft, kept, change }: FieldsProps) {
  return (
    <>
      <Line
        label={t("settings-server-form.address")}
        value={draft.address}
        placeholder="https://example.com/mcp"
        testId="server-address"
        code
        onChange={(address) => change({ address })}
      />
      <NamedValues
        kind="http"
        values={draft.headers}
        kept={kept}
        onChange={(headers) => change({ headers })}
      />
    </>
  );
}

interface LineProps {
  label: string;
  value: string;
  placeholder?: string;
  testId: string;
  /** Whether programs read it. */
  code?: boolean;
  autoFocus?: boolean;
  onChange: (value: string) => void;
}

function Line({ label, code = false, testId, onChange, ...rest }: LineProps) {
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <input
        {...rest}
        id={id}
        type="text"
        className={code ? "server-code" : undefined}
        autoComplete="off"
        autoCapitalize="off"
        autoCorrect="off"
        spellCheck={false}
        data-testid={testId}
        onChange={(event) => onChange(event.target.value)}
      />
    </div>
  );
}
