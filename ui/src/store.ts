import { create } from "zustand";
import type { ErrorReport, ModelInfo } from "./bindings";
import { type Change, reduce, type Shown } from "./state";

/** What only the page knows. */
interface View {
  /** Whether the first snapshot has come. */
  opened: boolean;
  sidebar: boolean;
  /** Texts not sent yet, by chat. */
  drafts: Record<string, string>;
  /** A message is on its way to the shell. */
  sending: boolean;
  /** Why the last action on the open chat failed. */
  actionError: ErrorReport | null;
  /** Why the last model did not open. */
  modelError: ErrorReport | null;
  modelPicker: boolean;
}

const FIRST: Shown & View = {
  engine: { state: "starting" },
  models: [],
  selectedModel: "",
  chats: [],
  chat: null,
  messages: [],
  settings: {
    sampling: {
      temperature: 0,
      top_p: 1,
      top_k: 0,
      min_p: 0,
      repetition_penalty: 1,
      presence_penalty: 0,
      frequency_penalty: 0,
      seed: null,
    },
    drafting: { mode: "auto" },
    max_tokens: 1024,
    thinking: false,
    stop: [],
  },
  live: {},
  thoughtSeconds: {},
  opened: false,
  sidebar: true,
  drafts: {},
  sending: false,
  actionError: null,
  modelError: null,
  modelPicker: false,
};

export const useStore = create<Shown & View>(() => FIRST);

/** Lets something happen to what the shell knows. */
export function dispatch(change: Change): void {
  useStore.setState((state) => reduce(state, change));
}

/** Changes what only the page knows. */
export function setView(view: Partial<View>): void {
  useStore.setState(view);
}

/** Names the draft of a chat. */
export const draftKey = (chat: number | null): string => (chat === null ? "new" : String(chat));

/** Whether a question would be taken. While a model loads, its reply waits. */
export const useCanAsk = (): boolean =>
  useStore((state) => state.opened && !state.sending && state.engine.state !== "failed");

/** What the model that answers, or will, is called. */
export const useModelName = (): string | null =>
  useStore(({ engine, models, selectedModel }) => {
    const path =
      engine.state === "ready" ? engine.model.path : engine.state === "loading" ? engine.path : selectedModel;
    return models.find((model) => model.path === path)?.name ?? folderName(path);
  });

/** The last part of a path. */
function folderName(path: string): string | null {
  return path.split(/[/\\]/).filter(Boolean).at(-1) ?? null;
}

/** The model that is ready to answer. */
export const useModel = (): ModelInfo | null =>
  useStore((state) => (state.engine.state === "ready" ? state.engine.model : null));
