import { BRIEF_THINKING, type ModelInfo, type Thinking } from "../bridge/bindings";
import { t } from "../language/text";

/** A way to think, and what it is called. */
export interface ThinkingMode {
  mode: Thinking["mode"];
  name: string;
}

export const thinkingModes = (): ThinkingMode[] => [
  { mode: "off", name: t("chat-thinking.off") },
  { mode: "brief", name: t("chat-thinking.brief") },
  { mode: "normal", name: t("chat-thinking.normal") },
  { mode: "long", name: t("chat-thinking.long") },
  { mode: "tokens", name: t("chat-thinking.limit") },
];

/** The limit that is offered first. */
const FIRST_LIMIT = 4096;

export const thinkingOf = (mode: Thinking["mode"]): Thinking =>
  mode === "tokens" ? { mode, tokens: FIRST_LIMIT } : { mode };

/** Why a model cannot be told how to think; null if it can, or if it is not known which one it will be. */
export const noThinking = (model: ModelInfo | null): string | null =>
  model !== null && !model.thinking && !model.opens_thinking ? t("chat-thinking-reason.no-switch") : null;

/** Why a way to think cannot be chosen for a model; null if it can. */
export function thinkingReason(mode: Thinking["mode"], model: ModelInfo | null): string | null {
  const none = noThinking(model);
  if (none !== null || model === null) return none;
  // What it thinks by itself can be ended at any time.
  if (mode === "off" && !model.thinking) return t("chat-thinking-reason.always");
  return mode === "long" && !model.thinking_effort ? t("chat-thinking-reason.no-more") : null;
}

/** What a way to think means for a model. */
export function thinkingWords(thinking: Thinking, model: ModelInfo | null): string {
  const asked = model?.thinking_effort === true;
  switch (thinking.mode) {
    case "off":
      return t("chat-thinks.off");
    case "brief":
      return asked ? t("chat-thinks.little") : t("chat-thinks.brief", { tokens: BRIEF_THINKING });
    case "normal":
      return t("chat-thinks.normal");
    case "long":
      return t(asked ? "chat-thinks.much" : "chat-thinks.long");
    case "tokens":
      return t("chat-thinks.limit");
  }
}

/** What differs from how models think by themselves, in a few words; null if nothing does. */
export function thinkingLabel(thinking: Thinking): string | null {
  switch (thinking.mode) {
    case "off":
      return t("chat-thinking-label.off");
    case "brief":
      return t("chat-thinking-label.brief");
    case "normal":
      return null;
    case "long":
      return t("chat-thinking-label.long");
    case "tokens":
      return t("chat-thinking-label.limit", { tokens: thinking.tokens });
  }
}
