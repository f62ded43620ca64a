import type { Action } from "../bridge/bindings";
import { openChat } from "../chat/navigation";
import { openModel, selectModel } from "../models/choose";
import { choices } from "../models/models";
import { openSettings } from "../settings/actions";
import { PAGES } from "../settings/pages";
import { reason, type State } from "../state/store";
import { actionsNow, keysLabel, type Run } from "./table";

/** What there is to offer. */
interface Offer extends Pick<State, "chats" | "chat" | "models" | "library" | "selectedModel"> {
  /** Whether another model can be opened now. */
  canOpen: boolean;
}

export const offer = (state: State): Offer => ({
  chats: state.chats,
  chat: state.chat,
  models: state.models,
  library: state.library,
  selectedModel: state.selectedModel,
  canOpen: reason(state, "open") === null,
});

/** The commands that can be given now. */
export const commandsOf = (state: State): Action[] => actionsNow(state).filter(({ id }) => id !== "palette");

/** Something to go to or to do. */
export interface Entry {
  key: string;
  group: "Chats" | "Commands" | "Models" | "Settings";
  name: string;
  /** The keys that do the same. */
  keys: string | null;
  choose: () => void;
}

/** How many chats are offered before anything is typed, and afterwards. */
const RECENT = 5;
const FOUND = 20;

/** A chat that a search has found by its title. */
export interface FoundTitle {
  chat: number;
  title: string;
}

/** What the palette offers for `query`: what begins with it first, in every group. `run` does what a command says. */
export function entries(
  offer: Offer,
  commands: Action[],
  query: string,
  titles: FoundTitle[],
  run: Run,
): Entry[] {
  const chats = chatEntries(offer, query, titles);
  const others = [...commandEntries(commands, run), ...modelEntries(offer), ...settingsEntries()];
  return [...chats, ...ranked(others, query)];
}

/** What holds all words of `query`, those whose name begins with it first. */
export function ranked<T extends { name: string }>(all: T[], query: string): T[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  const fitting = all.filter(({ name }) => words.every((word) => name.toLowerCase().includes(word)));
  const begins = ({ name }: T) => name.toLowerCase().startsWith(words.join(" "));
  return words.length === 0 ? fitting : [...fitting.filter(begins), ...fitting.filter((one) => !begins(one))];
}

function chatEntries({ chats, chat: open }: Offer, query: string, titles: FoundTitle[]): Entry[] {
  const listed = chats.map(({ id, title }) => ({ id, name: title }));
  const found = titles
    .map(({ chat, title }) => ({ id: chat, name: title }))
    .filter(({ id }) => chats.every((chat) => chat.id !== id));
  const fitting = query.trim() === "" ? listed : ranked([...listed, ...found], query);
  return fitting
    .filter(({ id }) => id !== open)
    .slice(0, query.trim() === "" ? RECENT : FOUND)
    .map(({ id, name }) => ({
      key: `chat ${id}`,
      group: "Chats",
      name: name || "New chat",
      keys: null,
      choose: () => void openChat(id),
    }));
}

const commandEntries = (commands: Action[], run: Run): Entry[] =>
  commands.map((action) => ({
    key: `action ${action.id}`,
    group: "Commands",
    name: action.name,
    keys: keysLabel(action.id),
    choose: () => void run(action.id),
  }));

function modelEntries({ models, library, selectedModel, canOpen }: Offer): Entry[] {
  if (!canOpen) return [];
  return choices(models, library)
    .flatMap(([, group]) => group)
    .filter(({ path, local }) => path !== selectedModel && (local === null || local.state.state === "ready"))
    .map(({ path, name }) => ({
      key: `model ${path}`,
      group: "Models",
      name: `Use ${name}`,
      keys: null,
      choose: () => void (models.some((entry) => entry.path === path) ? selectModel(path) : openModel(path)),
    }));
}

const settingsEntries = (): Entry[] =>
  PAGES.map(({ id, name }) => ({
    key: `setting ${id}`,
    group: "Settings",
    name: `Settings: ${name}`,
    keys: null,
    choose: () => openSettings(id),
  }));
