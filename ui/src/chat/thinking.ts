import { BRIEF_THINKING, type ModelInfo, type Thinking } from "../bridge/bindings";
import { count } from "../primitives/format";

/** A way to think, and what it is called. */
export interface ThinkingMode {
  mode: Thinking["mode"];
  name: string;
}

export const MODES: readonly ThinkingMode[] = [
  { mode: "off", name: "Off" },
  { mode: "brief", name: "Brief" },
  { mode: "normal", name: "Normal" },
  { mode: "long", name: "Long" },
  { mode: "tokens", name: "Limit" },
];

/** The limit that is offered first. */
const FIRST_LIMIT = 4096;

export const thinkingOf = (mode: Thinking["mode"]): Thinking =>
  mode === "tokens" ? { mode, tokens: FIRST_LIMIT } : { mode };

/** Why a model cannot be told how to think; null if it can, or if it is not known which one it will be. */
export const noSwitch = (model: ModelInfo | null): string | null =>
  model !== null && !model.thinking ? "This model’s chat template has no thinking switch." : null;

/** Why a way to think cannot be chosen for a model; null if it can. */
export const thinkingReason = (mode: Thinking["mode"], model: ModelInfo | null): string | null =>
  noSwitch(model) ??
  (mode === "long" && model !== null && !model.thinking_effort
    ? "This model thinks as long as it likes, and cannot be asked for more."
    : null);

/** What a way to think means for a model. */
export function thinkingWords(thinking: Thinking, model: ModelInfo | null): string {
  const asked = model?.thinking_effort === true;
  switch (thinking.mode) {
    case "off":
      return "It answers at once.";
    case "brief":
      return asked
        ? "It is asked to think little."
        : `The answer begins after ${count(BRIEF_THINKING)} tokens of thinking at the latest, sooner where the context is short.`;
    case "normal":
      return "It thinks as long as it likes.";
    case "long":
      return asked ? "It is asked to think much." : "It thinks as long as it likes, as with Normal.";
    case "tokens":
      return "The answer begins after so many tokens of thinking at the latest.";
  }
}

/** What differs from how models think by themselves, in a few words; null if nothing does. */
export function thinkingLabel(thinking: Thinking): string | null {
  switch (thinking.mode) {
    case "off":
      return "no thinking";
    case "brief":
      return "brief thinking";
    case "normal":
      return null;
    case "long":
      return "long thinking";
    case "tokens":
      return `thinking to ${count(thinking.tokens)}`;
  }
}
