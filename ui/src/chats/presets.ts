import { changeChat, hearChat } from "../actions";
import type { ChatSettings, Preset } from "../bindings";
import { shell } from "../bridge";
import { chatLine } from "../inOrder";
import { newChat, openChat } from "../navigation";
import { generation } from "../state";
import { dispatch, setView, useStore } from "../store";
import { attempt } from "./actions";

const state = () => useStore.getState();

function list(presets: Preset[]): void {
  const byName = presets.toSorted((a, b) => a.name.localeCompare(b.name, "en", { sensitivity: "base" }));
  dispatch({ kind: "presets", presets: byName });
}

/** Whether settings hold what is in no preset, so that a preset in their place would be a loss. */
export function isOwn(settings: ChatSettings, presets: Preset[]): boolean {
  const preset = presets.find(({ id }) => id === settings.preset);
  const words = ({ system_prompt, generation }: Pick<Preset, "system_prompt" | "generation">) =>
    JSON.stringify([system_prompt.trim(), generation]);
  return words(settings) !== words(preset ?? { system_prompt: "", generation: null });
}

/** Gives the open chat other settings. Where its own go, they can be brought back. Returns whether it has the others. */
async function replaceSettings(settings: Partial<ChatSettings>, done: string): Promise<boolean> {
  const { chat, chatSettings: before, presets, navigation } = state();
  if (!(await changeChat(settings))) return false;
  const unbegun = chat === null ? navigation.shown : null;
  if (isOwn(before, presets))
    setView({ note: { words: done, undo: () => bringBack(chat, before), unbegun } });
  return true;
}

/** Gives a chat the settings back that it had. What was changed since can be brought back in turn. */
async function bringBack(chat: number | null, before: ChatSettings): Promise<boolean> {
  // The next new chat is not meant.
  if (chat === null && state().sending) return false;
  if (state().chat !== chat) await (chat === null ? newChat() : openChat(chat));
  if (state().chat !== chat) return false;
  // The preset may have been deleted meanwhile.
  const preset = state().presets.some(({ id }) => id === before.preset) ? before.preset : null;
  const { system_prompt, generation } = before;
  const settings = { system_prompt, generation, preset };
  return replaceSettings(settings, "The earlier system prompt and settings are back.");
}

/** Writes the open chat by a preset, or as the app and the model say. */
export function choosePreset(id: number | null): Promise<boolean> {
  const chosen = state().presets.find((preset) => preset.id === id);
  const by = chosen ? `“${chosen.name}” has` : "The model's own values have";
  return replaceSettings(
    {
      preset: chosen?.id ?? null,
      system_prompt: chosen?.system_prompt ?? "",
      generation: chosen?.generation ?? null,
    },
    `${by} replaced this chat's system prompt and settings.`,
  );
}

/** Keeps the settings of the open chat under a name; the chat is then set by it. */
export const keepAsPreset = (name: string) =>
  attempt(async () => {
    const { chatSettings, navigation } = state();
    const preset = await shell.addPreset(name, chatSettings.system_prompt, generation(state()));
    list([...state().presets, preset]);
    // Another chat that was opened meanwhile is not meant.
    if (state().navigation.shown === navigation.shown)
      await changeChat({ preset: preset.id, generation: preset.generation });
  });

async function changePreset(preset: Preset): Promise<void> {
  await shell.changePreset(preset);
  list(state().presets.map((known) => (known.id === preset.id ? preset : known)));
}

/** Gives a preset what the open chat is set to. */
export const updatePreset = (before: Preset) =>
  attempt(async () => {
    const { system_prompt } = state().chatSettings;
    await changePreset({ ...before, system_prompt, generation: generation(state()) });
    setView({ note: { words: `“${before.name}” was updated.`, undo: () => changePreset(before) } });
  });

/** Removes a preset. The chat keeps its settings. */
export const deletePreset = (preset: Preset) =>
  attempt(async () => {
    await chatLine.run(() => shell.deletePreset(preset.id));
    list(state().presets.filter(({ id }) => id !== preset.id));
    const { chat, chatSettings } = state();
    const chosen = chatSettings.preset === preset.id;
    if (chosen) hearChat(chat, { ...chatSettings, preset: null });
    const words = `“${preset.name}” was deleted.`;
    setView({ note: { words, undo: () => restorePreset(preset, chosen, chat) } });
  });

/** Brings a preset back. `chosen`: whether `chat` was set by it. */
async function restorePreset(
  { name, system_prompt, generation }: Preset,
  chosen: boolean,
  chat: number | null,
): Promise<void> {
  const preset = await shell.addPreset(name, system_prompt, generation);
  list([...state().presets, preset]);
  if (chosen && state().chat === chat && state().chatSettings.preset === null)
    await changeChat({ preset: preset.id });
}
