import type { ModelInfo } from "../bridge/bindings";
import { openChat } from "../chat/navigation";
import { changeSettings } from "../chat/settings";
import { askTwoModels } from "../chat/sideBySide";
import { summarise } from "../chat/summarise";
import { thinkingModes, thinkingOf, thinkingReason } from "../chat/thinking";
import { awaitedFiles, canBeSummarised, draftKey } from "../chat/view";
import { t } from "../language/text";
import { openModel, selectModel } from "../models/choose";
import { otherModels } from "../models/models";
import { openProject } from "../projects/actions";
import { insertPrompt } from "../prompts/actions";
import { openSettings } from "../settings/actions";
import { PAGES, pageName } from "../settings/pages";
import { modelName, streamingReply } from "../state/server";
import { reason, type State } from "../state/store";
import { ranked } from "./ranked";
import { type ActionNow, actionName, actionsNow, keysLabel, type Run } from "./table";

/** What there is to offer. */
interface Offer
  extends Pick<State, "chats" | "chat" | "projects" | "models" | "library" | "selectedModel" | "prompts"> {
  /** Whether another model can be opened now. */
  canOpen: boolean;
  /** The model that is ready to answer. */
  model: ModelInfo | null;
  /** The chat whose older part can be summarised now. */
  summarised: number | null;
  /** What the model is called that answers, where a message is typed that it and another one can answer now. */
  asks: string | null;
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
  model: state.engine.state === "ready" ? state.engine.model : null,
  summarised:
    state.screen === "chat" && streamingReply(state) === null && canBeSummarised(state.messages)
      ? state.chat
      : null,
  asks: canAskTwo(state) ? modelName(state) : null,
});

const canAskTwo = (state: State): boolean =>
  state.screen === "chat" &&
  /\S/.test(state.drafts[draftKey(state.chat)] ?? "") &&
  reason(state, "ask") === null &&
  awaitedFiles(state).length === 0 &&
  streamingReply(state) === null;

/** The commands that can be given now. */
export const commandsOf = (state: State): ActionNow[] =>
  actionsNow(state).filter(({ id }) => id !== "palette");

/** Something to go to or to do. */
export interface Entry {
  key: string;
  /** What kind of thing it is. */
  group: string;
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
  commands: ActionNow[],
  query: string,
  titles: FoundTitle[],
  run: Run,
): Entry[] {
  const chats = chatEntries(offer, query, titles);
  const others = [
    ...projectEntries(offer),
    ...commandEntries(commands, run),
    ...replyEntries(offer),
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
      group: t("palette-chats"),
      name: name || t("chats-unnamed"),
      keys: null,
      choose: () => void openChat(id),
    }));
}

const commandEntries = (commands: ActionNow[], run: Run): Entry[] =>
  commands.map((action) => ({
    key: `action ${action.id}`,
    group: t("palette-commands"),
    name: actionName(action),
    keys: keysLabel(action.id),
    choose: () => void run(action.id),
  }));

/** How replies are written in the open chat, and what becomes of its older part. */
function replyEntries({ model, summarised }: Offer): Entry[] {
  const command = (key: string, name: string, choose: () => void): Entry => ({
    key,
    group: t("palette-commands"),
    name,
    keys: null,
    choose,
  });
  const modes = thinkingModes().filter(({ mode }) => thinkingReason(mode, model) === null);
  return [
    ...modes.map(({ mode, name }) =>
      command(`thinking ${mode}`, t("palette-think", { mode: name }), () =>
        changeSettings({ thinking: thinkingOf(mode) }),
      ),
    ),
    ...(summarised === null
      ? []
      : [command("summarise", t("palette-summarise"), () => void summarise(summarised))]),
  ];
}
const projectEntries = ({ projects }: Offer): Entry[] =>
  projects.map(({ id, name }) => ({
    key: `project ${id}`,
    group: t("palette-projects"),
    name: t("palette-open-project", { name }),
    keys: null,
    choose: () => void openProject(id),
  }));

const promptEntries = ({ prompts }: Offer): Entry[] =>
  prompts.map((prompt, at) => ({
    key: `prompt ${at}`,
    group: t("palette-prompts"),
    name: t("palette-insert-prompt", { name: prompt.name }),
    keys: null,
    choose: () => insertPrompt(prompt),
  }));

function modelEntries({ models, library, selectedModel, canOpen, asks }: Offer): Entry[] {
  if (!canOpen) return [];
  const others = otherModels(models, library, selectedModel);
  const uses = others.map(
    ({ path, name }): Entry => ({
      key: `model ${path}`,
      group: t("palette-models"),
      name: t("palette-use-model", { name }),
      keys: null,
      choose: () => void (models.some((entry) => entry.path === path) ? selectModel(path) : openModel(path)),
    }),
  );
  if (asks === null) return uses;
  const pairs = others.map(
    ({ path, name }): Entry => ({
      key: `two ${path}`,
      group: t("palette-models"),
      name: t("palette-ask-two", { first: asks, second: name }),
      keys: null,
      choose: () => void askTwoModels(path, name),
    }),
  );
  return [...uses, ...pairs];
}

const settingsEntries = (): Entry[] =>
  PAGES.map(({ id }) => ({
    key: `setting ${id}`,
    group: t("palette-settings"),
    name: t("palette-open-settings", { page: pageName(id) }),
    keys: null,
    choose: () => openSettings(id),
  }));
