import type { OwnSource, ServerInfo, ToolsState } from "../bridge/bindings";
import { ownLack } from "../settings/ownTools";
import { useStore } from "../state/store";
import { changeChatSettings } from "./settings";

/** What a chat may be given tools of. */
export interface Source {
  /** What chats name it by. */
  id: string;
  on: boolean;
  /** Tools of the app's own; null where this is a server. */
  own: OwnSource | null;
  /** The server; null where this is none, or one that is gone. */
  server: ServerInfo | null;
  /** What it waits for before the chat gets its tools; null where that is nothing. */
  lack: string | null;
}

/** What the open chat can use, and what it uses though that is off or gone: each switch that is on is seen. */
export function sourcesOf(tools: ToolsState, chosen: string[]): Source[] {
  const source = (id: string, more: Partial<Source>): Source => ({
    id,
    on: chosen.includes(id),
    own: null,
    server: null,
    lack: null,
    ...more,
  });
  const known = [
    ...tools.built_in.map((own) => source(own.id, { own, lack: ownLack(own.id, tools) })),
    ...tools.servers
      .filter(({ enabled, slug }) => enabled || chosen.includes(slug))
      .map((server) => source(server.slug, { server })),
  ];
  const gone = chosen.filter((id) => known.every((one) => one.id !== id)).map((id) => source(id, {}));
  return [...known, ...gone];
}

/** A choice of tools as it is kept: the order in which they were switched on says nothing. */
export const withSource = (chosen: string[], id: string, on: boolean): string[] =>
  [...new Set(on ? [...chosen, id] : chosen.filter((one) => one !== id))].sort();

/** Lets the open chat use a source, or no longer. */
export function switchSource(id: string, on: boolean): void {
  const { tools } = useStore.getState().chatSettings;
  changeChatSettings({ tools: withSource(tools, id, on) });
}
