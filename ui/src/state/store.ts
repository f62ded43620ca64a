import { create } from "zustand";
import type {
  Attachment,
  ErrorReport,
  GenerationSettings,
  ModelInfo,
  Place,
  RemoteFilter,
  RemoteModel,
  SearchResults,
} from "../bridge/bindings";
import type { SectionId } from "../settings/sections";
import {
  type Change,
  draftingNote,
  FOLLOWS,
  generation,
  modelName,
  reduce,
  type ServerState,
  streamingReply,
} from "./state";

/** What fills the window beside the sidebar. */
export type Screen = "chat" | "models" | "benchmarks" | "settings" | "diagnostics" | "notices";

/** Models that the Hub was asked for. What came last stays while it is asked again. */
export interface Listing {
  models: RemoteModel[] | null;
  asking: boolean;
  error: ErrorReport | null;
}

/** Files that are being chosen or read for a message that is not sent. */
export interface Arriving {
  id: number;
  /** The chat of the message; null is a new one. */
  chat: number | null;
  /** What they are called; null until they are chosen. */
  name: string | null;
}

/** What was done, in a sentence. */
export interface Done {
  words: string;
  /** What brings back what was there before; null where nothing can. `false`: it could not, and why is said. */
  undo: (() => Promise<unknown>) | null;
  /** Where it was done to a chat that is not begun, the navigation that led there. The note goes when the chat begins. */
  unbegun?: number | null;
}

/** What only the page knows. */
interface UiState {
  /** Whether the first snapshot has come. */
  opened: boolean;
  sidebar: boolean;
  /** Whether the panel with the chat's settings is open. */
  inspector: boolean;
  /** Texts not sent yet, by chat. */
  drafts: Record<string, string>;
  /** Files that go with the texts not sent yet, by chat. */
  attached: Record<string, Attachment[]>;
  /** Files that are to go with them and are not read yet. */
  arriving: Arriving[];
  /** A message is on its way to the shell. */
  sending: boolean;
  /** Why the last action on the open chat failed. */
  actionError: ErrorReport | null;
  /** Why the last model did not open. */
  modelError: ErrorReport | null;
  modelPicker: boolean;
  /** The new chat that was set by a preset until that was deleted: the shell does not know it yet. */
  unbegun: { navigation: number; preset: number } | null;
  screen: Screen;
  /** Whether everything is offered by name. */
  palette: boolean;
  /** Whether the keys are listed. */
  shortcuts: boolean;
  /** The part of the settings that comes into view next. */
  section: SectionId | null;
  /** Where the app keeps its files; null until asked for. */
  places: Place[] | null;
  /** Why the last change of the settings failed. */
  settingsError: ErrorReport | null;
  /** The message of the person's that is being edited. */
  editing: number | null;
  /** What messages are being changed to, by message; null where that was given up. */
  edits: Record<number, string | null>;
  /** The reply whose numbers are open. */
  numbers: number | null;
  /** The chat that is being renamed in the list. */
  renaming: number | null;
  /** The chat whose tags are being chosen. */
  tagging: number | null;
  /** What was done last, as far as it is to be said. */
  note: Done | null;
  /** What the chats are searched for; empty while the list is shown. */
  query: string;
  /** What the last search of the chats found. */
  hits: SearchResults | null;
  /** The message that came into view last because somebody asked for it, and whether it is shown for a moment. */
  jump: { message: number; lit: boolean } | null;
  /** The models to recommend; null until asked for. */
  catalogue: Listing | null;
  /** What the Hub is searched for. */
  filter: RemoteFilter;
  /** What a search of the Hub found; null while the catalogue is shown. */
  found: Listing | null;
  /** The model of the Hub that is looked at. */
  details: RemoteModel | null;
  /** Why the last action on the library failed, and what it was about. */
  libraryError: { about: string; report: ErrorReport } | null;
  /** What the last action led to: its row comes into view and takes the focus. */
  spotlight: string | null;
}

/** A search that leaves nothing out. */
export const NO_FILTER: RemoteFilter = {
  text: "",
  with_mtp: false,
  fitting: false,
  kind: null,
  bits: null,
  largest_download: null,
};

const FIRST: ServerState & UiState = {
  engine: { state: "starting" },
  models: [],
  selectedModel: "",
  chats: [],
  moreChats: null,
  tag: null,
  tags: [],
  deletions: [],
  listChanges: 0,
  navigation: { asked: 0, shown: 0, pending: false, gone: [] },
  chat: null,
  about: null,
  messages: [],
  versions: {},
  asked: 0,
  settings: {
    sampling: {
      temperature: 0,
      top_p: 1,
      top_k: 0,
      min_p: 0,
      xtc_probability: 0,
      xtc_threshold: 0.1,
      repetition_penalty: 1,
      presence_penalty: 0,
      frequency_penalty: 0,
      acceptance: "coupled",
      seed: null,
    },
    drafting: { mode: "auto" },
    max_tokens: 32768,
    thinking: false,
    stop: [],
  },
  preferences: {
    appearance: "auto",
    zoom: 100,
    notifications: true,
    keep_running: false,
    sidebar_width: null,
  },
  chatSettings: FOLLOWS,
  presets: [],
  deletedPresets: [],
  revealDrafts: false,
  trouble: null,
  library: null,
  dragging: false,
  live: {},
  opened: false,
  sidebar: true,
  inspector: false,
  drafts: {},
  attached: {},
  arriving: [],
  sending: false,
  actionError: null,
  modelError: null,
  modelPicker: false,
  unbegun: null,
  screen: "chat",
  palette: false,
  shortcuts: false,
  section: null,
  places: null,
  settingsError: null,
  editing: null,
  edits: {},
  numbers: null,
  renaming: null,
  tagging: null,
  note: null,
  query: "",
  hits: null,
  jump: null,
  catalogue: null,
  filter: NO_FILTER,
  found: null,
  details: null,
  libraryError: null,
  spotlight: null,
};

export const useStore = create<ServerState & UiState>(() => FIRST);

/** Lets something happen to what the shell knows. */
export function dispatch(change: Change): void {
  useStore.setState((state) => reduce(state, change));
}

/** Changes what only the page knows. */
export function setView(view: Partial<UiState>): void {
  useStore.setState(view);
}

/** The files that the message of the open chat waits for. */
export const awaited = ({ arriving, chat }: ServerState & UiState): Arriving[] =>
  arriving.filter((one) => one.chat === chat && one.name !== null);

/** Names the draft of a chat. */
export const draftKey = (chat: number | null): string => (chat === null ? "new" : String(chat));

/** What a control may be for: asking, opening a model, or using what only a loaded model knows. */
type Purpose = "ask" | "open" | "know";

/** Why a control for `purpose` cannot be used now; null if it can. While a model loads, a question waits for it. */
export function reason(
  state: Pick<ServerState & UiState, "opened" | "sending" | "engine">,
  purpose: Purpose,
): string | null {
  const { opened, sending, engine } = state;
  switch (purpose) {
    case "ask":
      if (!opened) return "The chats are still being opened.";
      if (engine.state === "failed") return "No model can answer. The note above the message says why.";
      return sending ? "The last message is still being sent." : null;
    case "open":
      if (engine.state === "starting") return "The engine is still starting.";
      return engine.state === "loading" ? "A model is being loaded." : null;
    case "know":
      return engine.state === "ready" ? null : "No model is loaded, so its own values are not known.";
  }
}

export const useReason = (purpose: Purpose): string | null => useStore((state) => reason(state, purpose));

/** How the next reply of the open chat is written. */
export const useGeneration = (): GenerationSettings => useStore(generation);

/** Why nothing can be taken away from the open chat now; null if it can. */
export const useWritingReason = (): string | null =>
  useStore((state) => (streamingReply(state) === null ? null : "A reply is being written in this chat."));

/** Why nothing in the open chat can be answered now; null if it can. */
export function useAnswerReason(): string | null {
  const ask = useReason("ask");
  const writing = useWritingReason();
  return ask ?? writing;
}

/** What the model that answers, or will, is called. */
export const useModelName = (): string | null => useStore(modelName);

/** Why drafts did not help the last reply that the model of this chat finished, if they did not. */
export const useDraftingNote = (): string | null =>
  useStore((state) => draftingNote(state.messages, modelName(state)));

/** The model that is ready to answer. */
export const useModel = (): ModelInfo | null =>
  useStore((state) => (state.engine.state === "ready" ? state.engine.model : null));
