import type { ServerOffers, ServerPrompt, ServerResource, ToolsState } from "../bridge/bindings";
import { reportOf, shell } from "../bridge/bridge";
import { type State, setView, useStore } from "../state/store";

const state = () => useStore.getState();

/** What servers have told holds for so many milliseconds, unless the servers change. */
const HOLDS = 60_000;

/** Whether a server may be asked for anything. */
export const mayAsk = ({ tools }: Pick<State, "tools">): boolean =>
  tools.servers.some(({ enabled }) => enabled);

/** Whether the servers are being asked now. */
export const isAsking = ({ offersAsked }: Pick<State, "offersAsked">): boolean => offersAsked?.at === null;

const switchedOn = ({ servers }: ToolsState) => servers.filter(({ enabled }) => enabled);

/** Which servers are switched on. */
const which = (tools: ToolsState): string => JSON.stringify(switchedOn(tools).map(({ slug }) => slug));

/** The same, and how they are. */
const standing = (tools: ToolsState): string =>
  JSON.stringify(switchedOn(tools).map(({ slug, status, signed_in }) => [slug, status.state, signed_in]));

let last = 0;

/** Asks the servers that are switched on what they have, unless what they have told is new enough. */
export async function askServers(): Promise<void> {
  const { offersAsked: asked, tools } = state();
  const [servers, of] = [which(tools), standing(tools)];
  if (asked?.at === null && asked.of === servers) return;
  if (asked && asked.at !== null && asked.of === of && Date.now() - asked.at < HOLDS) return;
  last += 1;
  const mine = last;
  setView({ offersAsked: { of: servers, at: null }, offersError: null });
  try {
    const offers = await shell.serverOffers();
    if (mine !== last) return;
    // Those that did not run were started for it. One that was switched on meanwhile has told nothing.
    const now = state().tools;
    setView({ offers, offersAsked: { of: which(now) === servers ? standing(now) : of, at: Date.now() } });
  } catch (error) {
    if (mine === last) setView({ offersError: reportOf(error), offersAsked: null });
  }
}

/** What servers have told, of those that are still switched on. */
export function offered({ offers, tools }: Pick<State, "offers" | "tools">): ServerOffers[] {
  const on = new Set(switchedOn(tools).map(({ slug }) => slug));
  return offers.filter(({ slug }) => on.has(slug));
}

/** A prompt and the server that has it. */
export interface OfferedPrompt {
  server: string;
  serverName: string;
  prompt: ServerPrompt;
}

/** The prompts of all of them, in their order. */
export const offeredPrompts = (offers: ServerOffers[]): OfferedPrompt[] =>
  offers.flatMap(({ slug, name, prompts }) =>
    prompts.map((prompt) => ({ server: slug, serverName: name, prompt })),
  );

/** Something to read and the server that has it. */
export interface OfferedResource {
  /** Names it. */
  key: string;
  server: string;
  resource: ServerResource;
}

/** What fits a search: each of its words is in the name, the address or what the server says of it. */
export function offeredResources(offers: ServerOffers[], query: string): OfferedResource[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  return offers.flatMap(({ slug, name: server, resources }) =>
    resources.flatMap((resource, place) => {
      const { name, description, address } = resource;
      const said = [name, description, address, server].join("\n").toLowerCase();
      return words.every((word) => said.includes(word))
        ? [{ key: `${slug} ${place}`, server: slug, resource }]
        : [];
    }),
  );
}
