import type { NamedValue, ServerForm, ServerInfo, ServerTransport } from "../bridge/bindings";
import { t } from "../language/text";

/** A variable or a header as it is typed. */
export interface TypedValue {
  /** Tells it from the others. */
  id: number;
  name: string;
  value: string;
}

/** A server as it is typed: what belongs to a program and what to an address, so that neither is lost. */
export interface ServerDraft {
  name: string;
  kind: ServerTransport["kind"];
  command: string;
  /** The arguments, one a line. */
  lines: string;
  folder: string;
  variables: TypedValue[];
  address: string;
  headers: TypedValue[];
}

const EMPTY: ServerDraft = {
  name: "",
  kind: "program",
  command: "",
  lines: "",
  folder: "",
  variables: [],
  address: "",
  headers: [],
};

const typed = (names: string[]): TypedValue[] => names.map((name, id) => ({ id, name, value: "" }));

/** A server as it is, to be changed; of a new one, nothing. */
export function draftOf(server: ServerInfo | null): ServerDraft {
  if (server === null) return EMPTY;
  const { name, transport } = server;
  if (transport.kind === "http")
    return {
      ...EMPTY,
      name,
      kind: "http",
      address: transport.address,
      headers: typed(transport.headers),
    };
  return {
    ...EMPTY,
    name,
    command: transport.command,
    lines: transport.arguments.join("\n"),
    folder: transport.folder ?? "",
    variables: typed(transport.environment),
  };
}

/** Names whose values the shell keeps: of a server that is changed, as long as it stays a program or an address. */
export function keptNames(server: ServerInfo | null, kind: ServerDraft["kind"]): string[] {
  if (server === null || server.transport.kind !== kind) return [];
  return server.transport.kind === "program" ? server.transport.environment : server.transport.headers;
}

/** The variables or the headers, whichever are sent. */
export const valuesOf = (draft: ServerDraft): TypedValue[] =>
  draft.kind === "program" ? draft.variables : draft.headers;

/** Why it cannot be sent yet; null if it can. Everything else is the shell's to judge. */
export function missing(draft: ServerDraft): string | null {
  if (draft.name.trim() === "") return t("settings-server-form.no-name");
  if (draft.kind === "program" && draft.command.trim() === "") return t("settings-server-form.no-command");
  if (draft.kind === "http" && draft.address.trim() === "") return t("settings-server-form.no-address");
  const unnamed = valuesOf(draft).some(({ name, value }) => name.trim() === "" && value !== "");
  return unnamed ? t("settings-server-form.no-value-name") : null;
}

/** What is sent to the shell. */
export function formOf(draft: ServerDraft, server: ServerInfo | null): ServerForm {
  const kept = keptNames(server, draft.kind);
  const values: NamedValue[] = valuesOf(draft)
    .map(({ name, value }) => ({ name: name.trim(), value }))
    .filter(({ name }) => name !== "")
    .map(({ name, value }) => ({ name, value: value === "" && kept.includes(name) ? null : value }));
  const names = values.map(({ name }) => name);
  return {
    slug: server?.slug ?? null,
    name: draft.name.trim(),
    transport:
      draft.kind === "http"
        ? { kind: "http", address: draft.address.trim(), headers: names }
        : {
            kind: "program",
            command: draft.command.trim(),
            arguments: argumentsOf(draft.lines, server),
            environment: names,
            folder: draft.folder.trim() || null,
          },
    values,
  };
}

/** The arguments. Untouched, those stay as they are that no line can hold: with a line break, or empty. */
function argumentsOf(lines: string, server: ServerInfo | null): string[] {
  const before = server?.transport.kind === "program" ? server.transport.arguments : null;
  if (before?.join("\n") === lines) return before;
  return lines.split(/\r?\n/).filter((line) => line !== "");
}
