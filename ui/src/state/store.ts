import { create } from "zustand";
import { ALOUD_VIEW, type AloudView } from "../aloud/view";
import type { DraftingNote, GenerationSettings, ModelInfo } from "../bridge/bindings";
import { CHAT_VIEW, type ChatView } from "../chat/view";
import { CHAT_LIST_VIEW, type ChatListView } from "../chatList/view";
import { FIND_VIEW, type FindView } from "../find/view";
import { FRAME_VIEW, type FrameView } from "../frame/view";
import { t } from "../language/text";
import { MODELS_VIEW, type ModelsView } from "../models/view";
import { OFFERS_VIEW, type OffersView } from "../offers/view";
import { PALETTE_VIEW, type PaletteView } from "../palette/view";
import { PROJECTS_VIEW, type ProjectsView } from "../projects/view";
import { PROMPTS_VIEW, type PromptsView } from "../prompts/view";
import { SETTINGS_VIEW, type SettingsView } from "../settings/view";
import { UPDATES_VIEW, type UpdatesView } from "../updates/view";
import {
  type Change,
  draftingNote,
  generation,
  INITIAL_SERVER_STATE,
  modelName,
  reduce,
  restingReply,
  type ServerState,
  streamingReply,
} from "./server";

/** What only the page knows: a slice for each feature, which stands beside it. */
type View = FrameView &
  ChatView &
  ChatListView &
  FindView &
  AloudView &
  ModelsView &
  SettingsView &
  PaletteView &
  ProjectsView &
  PromptsView &
  OffersView &
  UpdatesView;

/** All that the page draws from. */
export type State = ServerState & View;

export const useStore = create<State>(() => ({
  ...INITIAL_SERVER_STATE,
  ...FRAME_VIEW,
  ...CHAT_VIEW,
  ...CHAT_LIST_VIEW,
  ...FIND_VIEW,
  ...ALOUD_VIEW,
  ...MODELS_VIEW,
  ...SETTINGS_VIEW,
  ...PALETTE_VIEW,
  ...PROJECTS_VIEW,
  ...PROMPTS_VIEW,
  ...OFFERS_VIEW,
  ...UPDATES_VIEW,
}));

/** Lets something happen to what the shell knows. */
export function dispatch(change: Change): void {
  useStore.setState((state) => reduce(state, change));
}

/** Changes what only the page knows. */
export function setView(view: Partial<View>): void {
  useStore.setState(view);
}

/** What a control may be for: asking, opening a model, or using what only a loaded model knows. */
type Purpose = "ask" | "open" | "know";

/** Why a control for `purpose` cannot be used now; null if it can. While a model loads, a question waits for it. */
export function reason(state: Pick<State, "opened" | "sending" | "engine">, purpose: Purpose): string | null {
  const { opened, sending, engine } = state;
  switch (purpose) {
    case "ask":
      if (!opened) return t("state-opening");
      if (engine.state === "failed" && engine.model === null) return t("state-nobody-answers");
      return sending ? t("state-sending") : null;
    case "open":
      if (engine.state === "starting") return t("state-starting");
      return engine.state === "loading" ? t("state-loading") : null;
    case "know":
      return engine.state === "ready" ? null : t("state-not-loaded");
  }
}

export const useReason = (purpose: Purpose): string | null => useStore((state) => reason(state, purpose));

/** How the next reply of the open chat is written. */
export const useGeneration = (): GenerationSettings => useStore(generation);

/** Why nothing can be taken away from the open chat now; null if it can. */
export const useWritingReason = (): string | null =>
  useStore((state) =>
    streamingReply(state) !== null ? t("state-writing") : (restingReason(state) ?? summaryReason(state)),
  );

/** Why nothing can be said in the open chat while its reply rests; null if none does. */
export function restingReason(state: Pick<State, "messages">): string | null {
  const resting = restingReply(state);
  if (resting === null) return null;
  return t(resting.status.state === "asking" ? "call-rests" : "call-rests.paused");
}

/** Why nothing can be said in the open chat while a summary of it is being written; null if none is. */
export const summaryReason = ({ chat, summaries }: Pick<State, "chat" | "summaries">): string | null =>
  chat !== null && summaries[chat] !== undefined ? t("state-summarising") : null;

/** Why nothing in the open chat can be answered now; null if it can. */
export function useAnswerReason(): string | null {
  const ask = useReason("ask");
  const writing = useWritingReason();
  return ask ?? writing;
}

/** What the model that answers, or will, is called. */
export const useModelName = (): string | null => useStore(modelName);

/** Why drafts did not help the last reply that the model of this chat finished, if they did not. */
export const useDraftingNote = (): DraftingNote | null =>
  useStore((state) => draftingNote(state.messages, modelName(state)));

/** The model that is ready to answer. */
export const useModel = (): ModelInfo | null =>
  useStore((state) => (state.engine.state === "ready" ? state.engine.model : null));
