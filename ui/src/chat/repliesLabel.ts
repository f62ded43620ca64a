import type { ChatSettings, GenerationSettings, Preset, Sampling } from "../bridge/bindings";
import { DEFAULT_GENERATION } from "../bridge/bindings";
import { t } from "../language/text";
import { isGreedy, sentence } from "../primitives/format";
import { useGeneration, useModel, useStore } from "../state/store";
import { thinkingLabel } from "./thinking";

/** More changes than can be named in a chip. */
const MANY = 3;

/** Whether words are drawn alike; the seed and which guesses stay are no part of that. */
export function drawsAlike(a: Sampling, b: Sampling): boolean {
  const words = ({ seed: _, acceptance: __, ...rest }: Sampling) =>
    JSON.stringify(Object.entries(rest).sort());
  return words(a) === words(b) || (isGreedy(a) && isGreedy(b));
}

/** What differs from how the model writes by itself, in a few words; `defaults` is null while that is not known. */
export function repliesLabel(
  generation: GenerationSettings,
  { system_prompt, preset }: ChatSettings,
  presets: Preset[],
  defaults: Sampling | null,
): string {
  const chosen = presets.find(({ id }) => id === preset);
  if (chosen) return chosen.name;
  const { sampling, thinking, max_tokens } = generation;
  const own = defaults !== null && drawsAlike(sampling, defaults);
  const changes = [
    !own && t(isGreedy(sampling) ? "reply-label.greedy" : "reply-label.sampled"),
    thinkingLabel(thinking),
    max_tokens !== DEFAULT_GENERATION.max_tokens && t("reply-label.length"),
    system_prompt.trim() !== "" && t("reply-label.system-prompt"),
  ].filter((change) => change !== false && change !== null);
  if (changes.length >= MANY) return t("reply-label.changes", { count: changes.length });
  const words = changes.join(" · ");
  return words === "" ? t("reply-label") : sentence(words);
}

/** The same for the open chat. */
export function useRepliesLabel(): string {
  const settings = useStore((state) => state.chatSettings);
  const presets = useStore((state) => state.presets);
  return repliesLabel(useGeneration(), settings, presets, useModel()?.defaults ?? null);
}
