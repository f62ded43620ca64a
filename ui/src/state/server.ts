import {
  type AppEvent,
  type BranchMessage,
  type ChatCursor,
  type ChatPage,
  type ChatSettings,
  type ChatSummary,
  type ChatsTrouble,
  DEFAULT_GENERATION,
  DEFAULT_LOCAL_API,
  DEFAULT_PREFERENCES,
  type DeletedProject,
  type Deletion,
  type DraftingNote,
  type EngineState,
  type GenerationSettings,
  type LibrarySnapshot,
  type LiveStats,
  type LocalApi,
  type Looked,
  type Message,
  type ModelEntry,
  type OpenedChat,
  type OtherMacs,
  type Preferences,
  type Preset,
  type Project,
  type ProjectChat,
  type Prompt,
  type Provenance,
  type ReplyEvent,
  type ReplyStep,
  type RingView,
  type Sent,
  type Snapshot,
  type SummaryProgress,
  type Surroundings,
  type Tag,
  type ToolsState,
  type UpdateState,
} from "../bridge/bindings";
import { joinPage, withChat, withoutChat } from "../chatList/list";
import { type Choice, choices } from "../models/models";
import { withProjectChat, withProjectSettings } from "../projects/list";
import { characters, joinRuns } from "../reveal/runs";
import { isResting, withStep, withText } from "./steps";

/** A reply that is being written, whether its chat is open or not. Its text is all of it, not only what came last. */
export interface LiveReply {
  chat: number;
  thinking: string;
  answer: string;
  /** Replies before it in the queue while it waits for its turn; null otherwise. */
  ahead: number | null;
  /** How far the prompt is read; null before and after. */
  reading: Reading | null;
  stats: LiveStats | null;
  /** Its rounds, where it may use tools; the text that comes is of the last one. */
  steps: ReplyStep[];
  /** The call that the model writes now; null while it writes none. */
  calling: Calling | null;
  /** When the first thinking came, in milliseconds; null if this page did not see it. */
  thinkingSince: number | null;
  /** How many seconds it thought; null until it answers, and where this page did not see it all. */
  thoughtSeconds: number | null;
  /** How many characters were there when this page began to listen. */
  before: { thinking: number; answer: number };
  /** Where what was written since came from. */
  provenance: Provenance;
}

/** A call as far as the model has written it. */
export interface Calling {
  tool: string;
  /** Its arguments, as the model writes them. */
  written: string;
}

/** How far a prompt is read, in tokens. */
export interface Reading {
  done: number;
  total: number;
  cached: number;
  /** How far its pictures are, while the model looks at them. */
  looked: Looked | null;
  /** What this page saw first of it, and when, in milliseconds. */
  first: { done: number; at: number };
}

/** The ways that the person goes through the window. Each has a number, which the shell knows it by. */
interface Navigation {
  /** The number of the last one. */
  latest: number;
  /** The number of the one that led to what is shown. */
  current: number;
  /** Whether the last one is still under way. */
  pending: boolean;
  /** Chats that were deleted since it was asked for: an answer may be older. */
  deleted: number[];
}

/** Where a person was. */
export interface ChatLocation {
  navigation: number;
  chat: number | null;
}

/** What the shell knows, as far as the page shows it. */
export interface ServerState {
  engine: EngineState;
  models: ModelEntry[];
  selectedModel: string;
  /** The list of chats, as far as it was asked for. */
  chats: ChatSummary[];
  /** What to ask for to get the rest of the list; null when all of it is here. */
  moreChats: ChatCursor | null;
  /** The tag that the listed chats have; null lists all. */
  tag: string | null;
  tags: Tag[];
  /** What was deleted and can be brought back, the last one first. */
  deletions: Deletion[];
  /** How far the summaries are that are being written, by chat. */
  summaries: Record<number, SummaryProgress>;
  /** How often the list of chats was told to change. */
  listChanges: number;
  navigation: Navigation;
  /** The open chat; null is a new one. */
  chat: number | null;
  /** The open chat as it stands in the list; null for a new one. */
  about: ChatSummary | null;
  /** The open chat's messages, oldest first. */
  messages: Message[];
  /** A message of the open chat and what was written in its place, oldest first, by message. */
  versions: Record<number, number[]>;
  /** How many questions this page has sent: each brings the end of the chat into view. */
  questionsSent: number;
  /** How replies are written where the chat has no settings of its own. */
  settings: GenerationSettings;
  /** How the app looks and behaves. */
  preferences: Preferences;
  /** What the system has around the window. */
  surroundings: Surroundings;
  /** How other programs use the model. */
  local_api: LocalApi;
  /** Other Macs: those that lend themselves to this one, and those that may use it. */
  macs: OtherMacs;
  /** The Macs that compute the loaded model; none where this one computes alone. */
  ring: RingView;
  /** What is known of newer versions. */
  updates: UpdateState;
  /** What models may use beside writing. */
  tools: ToolsState;
  /** How replies are written in the open chat. */
  chatSettings: ChatSettings;
  /** Settings to choose by name, in the order of their names. */
  presets: Preset[];
  /** The person's prompts, in their order. */
  prompts: Prompt[];
  /** The projects by name. */
  projects: Project[];
  /** Projects that were deleted and can be brought back, the last one first. */
  deletedProjects: DeletedProject[];
  /** The chats of projects whose chats were asked for, in the order of the list, by project. */
  projectChats: Record<number, ProjectChat[]>;
  /** The project that the new chat begins in; null for none, and while another chat is open. */
  newIn: number | null;
  /** Presets that were deleted and can be brought back, the last one first. */
  deletedPresets: Preset[];
  /** Whether text that came from drafts is marked. */
  revealDrafts: boolean;
  /** Why there are no chats. */
  trouble: ChatsTrouble | null;
  /** The model library; null until it was asked for. */
  library: LibrarySnapshot | null;
  /** Files are held over the window. */
  dragging: boolean;
  /** Replies being written, by message. */
  live: Record<number, LiveReply>;
}

/** How replies are written in a chat that follows the app. */
export const DEFAULT_CHAT_SETTINGS: ChatSettings = {
  system_prompt: "",
  without_standing: false,
  without_project: false,
  generation: null,
  preset: null,
  tools: [],
};

/** The local API of an app that has never had it on. */
export const INITIAL_LOCAL_API: LocalApi = {
  settings: { ...DEFAULT_LOCAL_API, aliases: [...DEFAULT_LOCAL_API.aliases], origins: [] },
  state: { state: "off" },
  token: null,
  model: null,
  offered: [],
  network_name: null,
  requests: { live: [], ended: [], tokens_per_second: 0 },
};

/** Other Macs where there are none, and nobody may use this one. */
export const NO_MACS: OtherMacs = {
  name: "",
  chip: null,
  usable_bytes: 0,
  lending: {
    settings: {
      on: false,
      port: 7421,
      most_gigabytes: null,
      keep_gigabytes: 100,
      only_on_power: true,
      only_unused: true,
    },
    address: null,
    error: null,
    in_use: null,
    open_until: null,
    stored: [],
  },
  paired: [],
  near: [],
  pairing: null,
  giving: null,
  spread: [],
};

/** This Mac computes alone. */
export const NO_RING: RingView = { macs: [], link_ms: null };

/** The tools of an app that has none. */
export const NO_TOOLS: ToolsState = {
  built_in: [],
  folders: [],
  search: "",
  servers: [],
  permissions: [],
  questions: [],
};

/** Before the first snapshot has come. */
export const INITIAL_SERVER_STATE: ServerState = {
  engine: { state: "starting" },
  models: [],
  selectedModel: "",
  chats: [],
  moreChats: null,
  tag: null,
  tags: [],
  deletions: [],
  summaries: {},
  listChanges: 0,
  navigation: { latest: 0, current: 0, pending: false, deleted: [] },
  chat: null,
  about: null,
  messages: [],
  versions: {},
  questionsSent: 0,
  settings: { ...DEFAULT_GENERATION, stop: [...DEFAULT_GENERATION.stop] },
  preferences: { ...DEFAULT_PREFERENCES, open_projects: [] },
  surroundings: { accent: null, full_screen: false },
  local_api: INITIAL_LOCAL_API,
  macs: NO_MACS,
  ring: NO_RING,
  updates: { state: "off" },
  tools: NO_TOOLS,
  chatSettings: DEFAULT_CHAT_SETTINGS,
  presets: [],
  prompts: [],
  projects: [],
  deletedProjects: [],
  projectChats: {},
  newIn: null,
  deletedPresets: [],
  revealDrafts: false,
  trouble: null,
  library: null,
  dragging: false,
  live: {},
};

/** Everything that can happen to `ServerState`. `at` is a time in milliseconds. */
export type Change =
  | { kind: "snapshot"; snapshot: Snapshot }
  | { kind: "app"; event: AppEvent }
  | { kind: "library"; library: LibrarySnapshot }
  | { kind: "listed"; tag: string | null; after: ChatCursor | null; page: ChatPage }
  | { kind: "navigation started" }
  | { kind: "navigation failed" }
  | { kind: "opened"; navigation: number; opened: OpenedChat }
  | { kind: "new"; navigation: number; project?: number | null }
  | { kind: "project chats"; project: number; chats: ProjectChat[] }
  | { kind: "changed"; opened: OpenedChat }
  | { kind: "followed"; opened: OpenedChat }
  | { kind: "chat settings"; settings: ChatSettings }
  | { kind: "sent"; from: ChatLocation; sent: Sent }
  | { kind: "attached"; chat: number; message: Message }
  | { kind: "reply"; message: number; event: ReplyEvent; at: number }
  | { kind: "settings"; settings: GenerationSettings }
  | { kind: "reveal drafts"; reveal: boolean };

export function reduce(state: ServerState, change: Change): ServerState {
  switch (change.kind) {
    case "snapshot": {
      const {
        selected_model: selectedModel,
        reveal_drafts: revealDrafts,
        deleted_presets: deletedPresets,
        deleted_projects: deletedProjects,
        chats: page,
        summaries,
        open,
        navigation,
        draft: _,
        ...rest
      } = change.snapshot;
      const next = {
        ...state,
        ...rest,
        selectedModel,
        revealDrafts,
        deletedPresets,
        deletedProjects,
        summaries: Object.fromEntries(summaries.map(({ chat, progress }) => [chat, progress])),
        // What was asked for before may be of other chats.
        projectChats: {},
        chats: page.chats,
        moreChats: page.next,
        tag: null,
      };
      const { latest, pending } = state.navigation;
      // Whoever has set out for elsewhere since is not called back.
      if (pending && navigation < latest) return next;
      const there = withNavigation(
        { ...next, navigation: { ...next.navigation, latest: Math.max(latest, navigation) } },
        navigation,
      );
      if (open) return withOpenChat(there, open);
      const isHere = state.chat === null && state.navigation.current === navigation;
      const newIn = there.projects.some(({ id }) => id === state.newIn) ? state.newIn : null;
      return isHere ? withNewChat(there, state.chatSettings, newIn) : withNewChat(there);
    }
    case "app":
      return onAppEvent(state, change.event);
    case "library":
      // An answer may be older than a change that was heard while it was on its way.
      return state.library === null ? { ...state, library: change.library } : state;
    case "listed":
      return onListed(state, change.tag, change.after, change.page);
    case "navigation started": {
      const { latest, current } = state.navigation;
      return { ...state, navigation: { latest: latest + 1, current, pending: true, deleted: [] } };
    }
    case "navigation failed":
      return { ...state, navigation: { ...state.navigation, pending: false } };
    case "opened": {
      if (change.navigation !== state.navigation.latest) return state;
      const there = withNavigation(state, change.navigation);
      return state.navigation.deleted.includes(change.opened.chat.id)
        ? withNewChat(there)
        : withOpenChat(there, change.opened);
    }
    case "new":
      return change.navigation === state.navigation.latest
        ? withNewChatIn(withNavigation(state, change.navigation), change.project ?? null)
        : state;
    case "project chats":
      return { ...state, projectChats: { ...state.projectChats, [change.project]: change.chats } };
    case "changed":
      // What was done here changes no settings, and those may be on their way.
      return change.opened.chat.id === state.chat
        ? withOpenChat(state, { ...change.opened, settings: state.chatSettings })
        : state;
    case "followed":
      return change.opened.chat.id === state.chat ? withOpenChat(state, change.opened) : state;
    case "chat settings":
      return { ...state, chatSettings: change.settings };
    case "sent":
      return onSent(state, change.from, change.sent);
    case "attached":
      return withReply(withMessage(state, change.message), change.chat, change.message);
    case "reply":
      return onReplyEvent(state, change.message, change.event, change.at);
    case "settings":
      return { ...state, settings: change.settings };
    case "reveal drafts":
      return { ...state, revealDrafts: change.reveal };
  }
}

function onAppEvent(state: ServerState, event: AppEvent): ServerState {
  switch (event.type) {
    case "engine":
      return { ...state, engine: event.engine };
    case "models":
      return { ...state, models: event.models, selectedModel: event.selected_model };
    case "chats_trouble":
      return { ...state, trouble: event.trouble };
    case "chats": {
      const about = event.chats.find(({ id }) => id === state.chat) ?? state.about;
      const complete = state.moreChats === null;
      let { chats, projectChats } = state;
      for (const chat of event.chats) {
        chats = withChat(chats, chat, state.tag, complete);
        projectChats = withProjectChat(projectChats, chat);
      }
      return { ...state, about, chats, projectChats, listChanges: state.listChanges + 1 };
    }
    case "chats_gone": {
      const { navigation } = state;
      let { chats, projectChats } = state;
      for (const id of event.chats) {
        chats = withoutChat(chats, id);
        projectChats = withProjectChat(projectChats, { id, project: null });
      }
      const next = {
        ...state,
        chats,
        projectChats,
        listChanges: state.listChanges + 1,
        navigation: { ...navigation, deleted: [...navigation.deleted, ...event.chats] },
      };
      return state.chat !== null && event.chats.includes(state.chat) ? withNewChat(next) : next;
    }
    case "summary": {
      const { [event.chat]: _, ...others } = state.summaries;
      const summaries = event.progress === null ? others : { ...others, [event.chat]: event.progress };
      return { ...state, summaries };
    }
    case "deletions":
      return { ...state, deletions: event.deletions };
    case "presets":
      return { ...state, presets: event.presets, deletedPresets: event.deleted };
    case "projects":
      return withProjects(state, event.projects, event.deleted);
    case "prompts":
      return { ...state, prompts: event.prompts };
    case "tags":
      return { ...state, tags: event.tags };
    case "settings":
      return { ...state, settings: event.settings };
    case "library":
      return { ...state, library: event.library };
    case "dragging":
      return { ...state, dragging: event.inside };
    case "dropped":
      return { ...state, dragging: false };
    case "preferences":
      return { ...state, preferences: event.preferences };
    case "surroundings":
      return { ...state, surroundings: event.surroundings };
    case "local_api":
      return { ...state, local_api: event.local_api };
    case "macs":
      return { ...state, macs: event.macs };
    case "ring":
      return { ...state, ring: event.ring };
    case "updates":
      return { ...state, updates: event.updates };
    case "tools":
      return { ...state, tools: event.tools };
    case "reveal_drafts":
      return { ...state, revealDrafts: event.reveal };
    case "action":
    case "closing":
    case "quick_shown":
    case "chat_changed":
    case "draft_text":
    case "draft_files":
    case "draft_pictures":
    case "chat_deleted":
    case "hidden":
    case "open_chat":
    case "summary_written":
    case "summary_failed":
      return state;
  }
}

function withNavigation(state: ServerState, navigation: number): ServerState {
  return { ...state, navigation: { ...state.navigation, current: navigation, pending: false } };
}

function withOpenChat(state: ServerState, { chat, settings, messages }: OpenedChat): ServerState {
  return {
    ...state,
    chat: chat.id,
    about: chat,
    newIn: null,
    chatSettings: settings,
    messages: messages.map(({ message }) => message),
    versions: versionsOf(messages),
  };
}

function withNewChat(
  state: ServerState,
  chatSettings = DEFAULT_CHAT_SETTINGS,
  newIn: number | null = null,
): ServerState {
  return { ...state, chat: null, about: null, newIn, chatSettings, messages: [], versions: {} };
}

/** A new chat in a project begins with the settings of that. */
function withNewChatIn(state: ServerState, id: number | null): ServerState {
  const project = state.projects.find((project) => project.id === id);
  if (!project) return withNewChat(state);
  return withNewChat(state, withProjectSettings(project, state.presets), project.id);
}

/** Who is in a project that is gone is in none. */
function withProjects(
  state: ServerState,
  projects: Project[],
  deletedProjects: DeletedProject[],
): ServerState {
  const isThere = (id: number | null) => projects.some((project) => project.id === id);
  const known = Object.entries(state.projectChats).filter(([id]) => isThere(Number(id)));
  return {
    ...state,
    projects,
    deletedProjects,
    projectChats: Object.fromEntries(known),
    newIn: isThere(state.newIn) ? state.newIn : null,
  };
}

function versionsOf(messages: BranchMessage[]): Record<number, number[]> {
  return Object.fromEntries(messages.map(({ message, versions }) => [message.id, versions]));
}

/** A part of the list has come. One that was asked for before the list became another is of no use. */
function onListed(
  state: ServerState,
  tag: string | null,
  after: ChatCursor | null,
  page: ChatPage,
): ServerState {
  if (after === null) return { ...state, tag, chats: page.chats, moreChats: page.next };
  if (state.tag !== tag || state.moreChats !== after) return state;
  return { ...state, chats: joinPage(state.chats, page.chats), moreChats: page.next };
}

/** Whether what was sent from a place still concerns what is shown: the person is where they were. */
export const isStillThere = ({ chat, navigation }: ServerState, from: ChatLocation, sent: Sent): boolean =>
  navigation.current === from.navigation &&
  (from.chat === null || from.chat === sent.chat) &&
  (chat === from.chat || chat === sent.chat);

function onSent(state: ServerState, from: ChatLocation, sent: Sent): ServerState {
  const added = sent.messages.map(({ message }) => message);
  const reply = added.at(-1);
  if (!reply) return state;
  const isDeleted = state.navigation.deleted.includes(sent.chat);
  const next =
    !isDeleted && isStillThere(state, from, sent)
      ? {
          ...state,
          chat: sent.chat,
          about: knownChat(state, sent.chat) ?? state.about,
          newIn: null,
          messages: join(state.messages, added),
          versions: { ...state.versions, ...versionsOf(sent.messages) },
          questionsSent: state.questionsSent + 1,
        }
      : state;
  return withReply(next, sent.chat, reply);
}

/** The messages with `added` after what they follow. What stood there before, as the reply tried again, is left out. */
function join(messages: Message[], added: Message[]): Message[] {
  const first = added[0];
  if (!first) return messages;
  const same = messages.findIndex((message) => message.id === first.id);
  const parent = messages.findIndex((message) => message.id === first.parent);
  const keep = same >= 0 ? same : first.parent === null ? 0 : parent >= 0 ? parent + 1 : messages.length;
  return [...messages.slice(0, keep), ...added];
}

function withReply(state: ServerState, chat: number, reply: Message): ServerState {
  if (reply.status.state !== "streaming") return endReply(state, reply);
  const live: LiveReply = {
    chat,
    thinking: reply.thinking,
    answer: reply.text,
    ahead: null,
    reading: null,
    stats: null,
    steps: reply.steps,
    calling: null,
    thinkingSince: null,
    thoughtSeconds: null,
    before: { thinking: characters(reply.thinking), answer: characters(reply.text) },
    provenance: { thinking: [], answer: [] },
  };
  return { ...state, live: { ...state.live, [reply.id]: live } };
}

function onReplyEvent(state: ServerState, id: number, event: ReplyEvent, at: number): ServerState {
  if (event.type === "ended") return endReply(state, event.message);
  if (event.type === "begun") return withModel(state, id, event.model);
  const live = state.live[id];
  if (!live) return state;
  switch (event.type) {
    case "waiting":
      // Also in the middle of a reply; the numbers stand for what it is not doing any more.
      return withLive(state, id, { ...live, ahead: event.ahead, reading: null, stats: null });
    case "reading": {
      const { done, total, cached, looked } = event;
      const first = live.reading?.first ?? { done, at };
      return withLive(state, id, {
        ...live,
        ahead: null,
        reading: { done, total, cached, looked, first },
        stats: null,
      });
    }
    case "live":
      return withLive(state, id, { ...live, reading: null, stats: event.stats });
    case "calling": {
      const { tool, written } = event;
      const before = live.calling?.tool === tool ? live.calling.written : "";
      return withLive(state, id, {
        ...live,
        reading: null,
        calling: { tool, written: before + written },
        thoughtSeconds: live.thoughtSeconds ?? secondsSince(live.thinkingSince, at),
      });
    }
    case "step": {
      const { step } = event;
      // Each round thinks by itself, and what is known of the one before is in it.
      const begins = live.steps.every(({ ordinal }) => ordinal < step.ordinal);
      return withLive(state, id, {
        ...live,
        reading: null,
        stats: null,
        steps: withStep(live.steps, step),
        calling: null,
        thinkingSince: begins ? null : live.thinkingSince,
        thoughtSeconds: begins ? null : live.thoughtSeconds,
      });
    }
    case "text": {
      const written = live.steps.at(-1) ?? { thinking: live.thinking, text: live.answer };
      const begins = event.thinking !== "" && written.thinking === "";
      const answers = event.answer !== "" && written.text === "";
      const thinkingSince = begins ? at : live.thinkingSince;
      return withLive(state, id, {
        ...live,
        reading: null,
        thinking: live.thinking + event.thinking,
        answer: live.answer + event.answer,
        steps: withText(live.steps, event),
        thinkingSince,
        thoughtSeconds: answers ? secondsSince(thinkingSince, at) : live.thoughtSeconds,
        provenance: {
          thinking: joinRuns(live.provenance.thinking, event.provenance.thinking),
          answer: joinRuns(live.provenance.answer, event.provenance.answer),
        },
      });
    }
  }
}

/** A reply that rested is being written again, or rests again. */
function withMessage(state: ServerState, message: Message): ServerState {
  const known = state.messages.find(({ id }) => id === message.id);
  if (!known || known.status.state === message.status.state) return state;
  return { ...state, messages: state.messages.map((one) => (one === known ? message : one)) };
}

/** Who writes a message is another than was expected. */
function withModel(state: ServerState, id: number, model: string): ServerState {
  const messages = state.messages.map((message) => (message.id === id ? { ...message, model } : message));
  return { ...state, messages };
}

function withLive(state: ServerState, id: number, live: LiveReply): ServerState {
  return { ...state, live: { ...state.live, [id]: live } };
}

function secondsSince(since: number | null, at: number): number | null {
  return since === null ? null : (at - since) / 1000;
}

function endReply(state: ServerState, message: Message): ServerState {
  const { [message.id]: _, ...live } = state.live;
  const messages = state.messages.map((known) => (known.id === message.id ? message : known));
  return { ...state, live, messages };
}

/** The reply of the open chat that is being written, if there is one. */
export function streamingReply({ live, chat, messages }: ServerState): number | null {
  // It may stand on a branch that is not shown.
  const writing = Object.entries(live).find(([, reply]) => reply.chat === chat);
  if (writing) return Number(writing[0]);
  const last = messages.at(-1);
  return last?.status.state === "streaming" ? last.id : null;
}

/** The reply of the open chat that rests until the person has said something; null if none does. */
export function restingReply({ messages }: Pick<ServerState, "messages">): Message | null {
  const last = messages.at(-1);
  return last && isResting(last) ? last : null;
}

/** A chat of the list or of a project, as far as it was asked for, or the open one. */
export const knownChat = (
  { chats, projectChats, about }: Pick<ServerState, "chats" | "projectChats" | "about">,
  id: number | null,
): ChatSummary | undefined => {
  if (id === null) return undefined;
  const isIt = (chat: ChatSummary) => chat.id === id;
  const inProject = Object.values(projectChats).flat();
  return (
    chats.find(isIt) ??
    inProject.find(({ chat }) => isIt(chat))?.chat ??
    (about?.id === id ? about : undefined)
  );
};

/** The project that the open chat is in, or that the new one begins in. */
export const openProject = ({ projects, chat, about, newIn }: ServerState): Project | undefined => {
  const open = chat === null ? newIn : about?.project;
  return projects.find(({ id }) => id === open);
};

/** The project whose page is shown: that is where a new chat in it begins. */
export const shownProject = (state: ServerState): Project | undefined =>
  state.chat === null ? openProject(state) : undefined;

/**
 * The chat so many rows further down the list, or among those of its project. A chat that is not listed stands before
 * all of them.
 */
export const chatFromHere = (
  { chats, chat, about, tag, projectChats }: ServerState,
  rows: number,
): ChatSummary | undefined => {
  const inProject = tag === null && about?.project != null ? projectChats[about.project] : undefined;
  const list = inProject?.map(({ chat }) => chat) ?? chats;
  return list[list.findIndex(({ id }) => id === chat) + rows];
};

/** How the next reply of the open chat is written. */
export const generation = ({ chatSettings, settings }: ServerState): GenerationSettings =>
  chatSettings.generation ?? settings;

/** What the model that answers, or will, is called. */
export function modelName({ engine, models, selectedModel, library }: ServerState): string | null {
  const path =
    engine.state === "ready" ? engine.model.path : engine.state === "loading" ? engine.path : selectedModel;
  const known = [...models, ...(library?.models ?? [])].find((model) => model.path === path);
  return known?.name ?? folderName(path);
}

/** The model that answered last in the open chat, if another one is ready now and it can be chosen again. */
export function modelBefore(state: ServerState): Choice | null {
  const { engine, messages, models, library } = state;
  const before = messages.findLast(({ role, model }) => role === "assistant" && model !== null)?.model;
  if (engine.state !== "ready" || library === null) return null;
  if (before === undefined || before === modelName(state)) return null;
  const canAnswer = ({ name, local }: Choice) =>
    name === before && (local === null || local.state.state === "ready");
  return (
    choices(models, library)
      .flatMap(([, group]) => group)
      .find(canAnswer) ?? null
  );
}

/** The last part of a path. */
export function folderName(path: string): string | null {
  return path.split(/[/\\]/).filter(Boolean).at(-1) ?? null;
}

/** What the last reply that `model` finished says of its drafts. */
export function draftingNote(messages: Message[], model: string | null): DraftingNote | null {
  const last = messages.findLast(
    (message) => message.model === model && message.status.state === "finished" && message.stats !== null,
  );
  return last?.stats?.drafting_note ?? null;
}
