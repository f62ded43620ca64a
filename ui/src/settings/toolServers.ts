import type { ServerInfo, ServersImported, ToolClaims, ToolPermission, ToolsState } from "../bridge/bindings";
import { shell } from "../bridge/bridge";
import { visible } from "../chat/visible";
import { t } from "../language/text";
import { told } from "../language/told";
import { sentences, writtenBy } from "../primitives/format";
import { dispatch, useStore } from "../state/store";
import { ownTool, ownTools } from "./ownTools";

/** Switches a server on, which the shell asks about first, or off; what came of it is shown. */
export async function enableServer(slug: string, on: boolean): Promise<void> {
  const enabled = await shell.enableToolServer(slug, on);
  const { tools } = useStore.getState();
  const servers = tools.servers.map((server) => (server.slug === slug ? { ...server, enabled } : server));
  dispatch({ kind: "app", event: { type: "tools", tools: { ...tools, servers } } });
}

/** Whether a server is not to be used before the person has signed in to it. */
export const wantsSignIn = ({ enabled, transport, status, signed_in }: ServerInfo): boolean =>
  enabled &&
  transport.kind === "http" &&
  status.state === "failed" &&
  // What was granted may be worth nothing any more, whatever the server says of that.
  (signed_in || status.error.code === "server_sign_in");

/** How a server is now, and whether the person is signed in to it. */
export function standing(server: ServerInfo): string {
  const signedIn = server.signed_in && !wantsSignIn(server);
  return [state(server), signedIn && t("settings-server-state.signed-in")].filter(Boolean).join(" · ");
}

function state({ enabled, status, tools }: ServerInfo): string {
  if (!enabled) return t("settings-server-state.off");
  switch (status.state) {
    case "stopped":
      return t("settings-server-state.stopped");
    case "signing_in":
      return t("settings-server-state.signing-in");
    case "starting":
      return t("settings-server-state.starting");
    case "running":
      return t("settings-server-state.running", { count: tools.length });
    case "failed":
      return t("settings-server-state.failed");
  }
}

/** What a server says of a tool, in plain words. */
export function claimed({ reads_only, destroys, reaches_out }: ToolClaims): string {
  const claims = [changes(reads_only, destroys), reaches(reaches_out)].filter((words) => words !== null);
  return claims.length === 0 ? t("settings-tool-claims.nothing") : claims.join(" · ");
}

function changes(readsOnly: boolean | null, destroys: boolean | null): string | null {
  // Where a server contradicts itself, the worse holds.
  if (destroys === true) return t("settings-tool-claims.destroys");
  if (readsOnly === true) return t("settings-tool-claims.reads");
  if (destroys === false) return t("settings-tool-claims.keeps");
  return readsOnly === false ? t("settings-tool-claims.changes") : null;
}

function reaches(out: boolean | null): string | null {
  if (out === null) return null;
  return t(out ? "settings-tool-claims.reaches" : "settings-tool-claims.stays");
}

/** What people call a server. */
export const serverName = (slug: string, servers: ServerInfo[]): string =>
  servers.find((server) => server.slug === slug)?.name ?? slug;

/** What a permission is for. */
export function permitted(permission: ToolPermission, state: ToolsState): string {
  const { tools, server } = permission;
  // What names no server is of the app's own.
  if (server === "") return permittedOwn(permission, state);
  const name = serverName(server, state.servers);
  return tools.kind === "one"
    ? t("settings-permission.one", { tool: visible(tools.tool.tool), server: name })
    : t("settings-permission.every", { server: name });
}

/** The same of one of the app's own tools, with the host or the address that may be asked. */
function permittedOwn({ tools, server_fingerprint: reach }: ToolPermission, state: ToolsState): string {
  const all = tools.kind === "one" ? [tools.tool] : tools.tools;
  const names = all.map(({ tool }) =>
    ownTool(ownTools(state).find(({ name }) => name === tool) ?? { name: tool, title: null }),
  );
  const reaches = all.some(({ tool }) => tool === "read_page" || tool === "search_web");
  return [...names.map(visible), ...(reaches ? [visible(reach)] : [])].join(" · ");
}

/** Where it holds, and since when. */
export function permittedWhere({ chat, chat_title, given_at }: ToolPermission): string {
  const date = new Date(given_at).toLocaleDateString(writtenBy(), {
    day: "numeric",
    month: "long",
    year: "numeric",
  });
  if (chat === null) return t("settings-permission.everywhere", { date });
  return chat_title === null
    ? t("settings-permission.untitled", { date })
    : t("settings-permission.chat", { chat: chat_title, date });
}

/** What was taken over from another program, and what was not: a line each. */
export function importLines({ added, left_out }: ServersImported, servers: ServerInfo[]): string[] {
  const names = added.map((slug) => serverName(slug, servers));
  return [
    names.length === 0
      ? t("settings-servers-import.none")
      : t("settings-servers-import.added", { names: new Intl.ListFormat(writtenBy()).format(names) }),
    ...left_out.map(({ name, error }) => {
      const { message, hint, details } = told(error);
      return t("settings-servers-import.left-out", { name, why: sentences(message, hint, details) });
    }),
  ];
}
