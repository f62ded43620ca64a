import type { Action } from "../bridge/bindings";
import { openChat } from "../chat/navigation";
import { openModel, selectModel } from "../models/choose";
import { choices } from "../models/models";
import { openProject } from "../projects/actions";
import { insertPrompt } from "../prompts/actions";
import { openSettings } from "../settings/actions";
import { PAGES } from "../settings/pages";
import { reason, type State } from "../state/store";
import { ranked } from "./ranked";
import { actionsNow, keysLabel, type Run } from "./table";

/** What there is to offer. */
interface Offer
  extends Pick<State, "chats" | "chat" | "projects" | "models" | "library" | "selectedModel" | "prompts"> {
  /** Whether another model can be opened now. */
  canOpen: boolean;
}

export const offer = (state: State): Offer => ({
  chats: state.chats,
  chat: state.chat,
  projects: state.projects,
  models: state.models,
  library: state.library,
  selectedModel: state.selectedModel,
  prompts: state.prompts,
  canOpen: reason(state, "open") === null,
});

/** The commands that can be given now. */
export const commandsOf = (state: State): Action[] => actionsNow(state).filter(({ id }) => id !== "palette");

/** Something to go to or to do. */
export interface Entry {
  key: string;
  group: "Chats" | "Projects" | "Commands" | "Prompts" | "Models" | "Settings";
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
  const others = [
    ...projectEntries(offer),
    ...commandEntries(commands, run),
    ...promptEntries(offer),
    ...modelEntries(offer),
    ...settingsEntries(),
  ];
  return [...chats, ...ranked(others, query)];
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

const projectEntries = ({ projects }: Offer): Entry[] =>
  projects.map(({ id, name }) => ({
    key: `project ${id}`,
    group: "Projects",
    name: `Project: ${name}`,
    keys: null,
    choose: () => void openProject(id),
  }));

const promptEntries = ({ prompts }: Offer): Entry[] =>
  prompts.map((prompt, at) => ({
    key: `prompt ${at}`,
    group: "Prompts",
    name: `Prompt: ${prompt.name}`,
    keys: null,
    choose: () => insertPrompt(prompt),
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
