import type { ReplyCall, ServerInfo, ToolInfo, ToolsState } from "../bridge/bindings";
import { t } from "../language/text";
import { seconds } from "../primitives/format";
import type { IconName } from "../primitives/icons";
import { ownTool, ownTools } from "../settings/ownTools";
import { visible } from "./visible";

/** A tool as a line or a question names it. */
export interface NamedTool {
  /** What people call it. */
  name: string;
  /** Its server, as people call that; null of the app's own. */
  server: string | null;
}

/** The server of a call, as far as it is still there. */
export const serverOf = (slug: string | null, { servers }: ToolsState): ServerInfo | null =>
  servers.find((server) => server.slug === slug) ?? null;

/** What a call's tool is called. */
export function namedTool(
  { tool, server }: Pick<ReplyCall, "tool" | "server">,
  tools: ToolsState,
): NamedTool {
  if (server !== null)
    return { name: visible(tool), server: visible(serverOf(server, tools)?.name ?? server) };
  const own = ownTools(tools).find(({ name }) => name === tool);
  return { name: own ? ownTool(own) : visible(tool), server: null };
}

/** The same of a name as the model writes it: that of the app's own, or a server's with its own behind it. */
export function namedByModel(name: string, tools: ToolsState): NamedTool {
  const server = tools.servers.find(({ slug }) => name.startsWith(`${slug}__`));
  return namedTool(
    server ? { tool: name.slice(server.slug.length + 2), server: server.slug } : { tool: name, server: null },
    tools,
  );
}

/** What a server says of a tool; null where neither is known any more. */
export const toolOf = ({ tool, server }: ReplyCall, tools: ToolsState): ToolInfo | null =>
  (server === null ? ownTools(tools) : (serverOf(server, tools)?.tools ?? [])).find(
    ({ name }) => name === tool,
  ) ?? null;

/** The sign of a call. */
export function callSign({ tool, server }: Pick<ReplyCall, "tool" | "server">): IconName {
  if (server !== null) return "wrench";
  switch (tool) {
    case "calculator":
      return "calculator";
    case "current_date":
      return "clock";
    case "read_page":
      return "globe";
    case "search_web":
    case "search_files":
      return "search";
    case "list_files":
      return "folder";
    case "read_file":
      return "file";
    case "write_file":
    case "edit_file":
      return "write";
    default:
      return "wrench";
  }
}

/** How long a call ran; null where it never did, or it is not known. */
export function callTime({ started_at, ended_at }: ReplyCall): string | null {
  return started_at === null || ended_at === null ? null : seconds(Math.max(0, ended_at - started_at) / 1000);
}

/** How a call stands, in a few words; null where only its time is told, and while it runs. */
export function callStanding({ state, decision }: ReplyCall): string | null {
  switch (state.state) {
    case "checking":
      return t("call-state.checking");
    case "refused":
      return t("call-state.refused");
    case "asking":
      return t(decision === null ? "call-state.asking" : "call-state.allowed");
    case "denied":
      return t("call-state.denied");
    case "failed":
      return t("call-state.failed");
    case "stopped":
      return t("call-state.stopped");
    case "timed_out":
      return t("call-state.timed-out");
    case "unknown":
      return t("call-state.unknown");
    case "running":
    case "done":
      return null;
  }
}

/** Whether the person has not answered yet. What they have allowed waits until all of its round is answered. */
export const isOpenQuestion = ({ state, decision }: ReplyCall): boolean =>
  state.state === "asking" && decision === null;

/** What else must be known of how it stands, in a sentence; null where that is nothing. */
export function callCaution({ state }: ReplyCall): string | null {
  if (state.state === "unknown") return t("call-unknown");
  return state.state === "refused" ? state.reason : null;
}

/** Why a call ran; null where that says nothing more. */
export function decisionWords({ decision }: ReplyCall): string | null {
  switch (decision) {
    case "allowed_once":
      return t("call-decision.once");
    case "allowed_in_chat":
      return t("call-decision.chat");
    case "allowed_always":
      return t("call-decision.always");
    case "built_in":
      return t("call-decision.own");
    case "denied":
    case null:
      return null;
  }
}
