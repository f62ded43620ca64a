import type { ChatSettings, Preset } from "../bridge/bindings";
import { shell } from "../bridge/bridge";
import { chatQueue } from "../bridge/serialQueue";
import { attempt } from "../frame/errors";
import { t } from "../language/text";
import { generation } from "../state/server";
import { setView, useStore } from "../state/store";
import { newChat, openChat } from "./navigation";
import { changeChatSettings, syncChatSettings } from "./settings";

const state = () => useStore.getState();

/** Whether settings hold what is in no preset, so that a preset in their place would be a loss. */
export function isOwn(settings: ChatSettings, presets: Preset[]): boolean {
  const preset = presets.find(({ id }) => id === settings.preset);
  const words = ({ system_prompt, generation }: Pick<Preset, "system_prompt" | "generation">) =>
    JSON.stringify([system_prompt.trim(), generation]);
  return words(settings) !== words(preset ?? { system_prompt: "", generation: null });
}

/**
 * Gives the open chat other settings. Where its own go, they can be brought back. Returns whether it has the others.
 */
async function replaceSettings(settings: Partial<ChatSettings>, done: string): Promise<boolean> {
  const { chat, chatSettings: before, presets, navigation } = state();
  if (!(await changeChatSettings(settings))) return false;
  const unbegun = chat === null ? navigation.current : null;
  if (isOwn(before, presets))
    setView({ note: { text: done, undo: () => restoreSettings(chat, before), unbegun } });
  return true;
}

/** Gives a chat the settings back that it had. What was changed since can be brought back in turn. */
async function restoreSettings(chat: number | null, before: ChatSettings): Promise<boolean> {
  // The next new chat is not meant.
  if (chat === null && state().sending) return false;
  if (state().chat !== chat) await (chat === null ? newChat() : openChat(chat));
  if (state().chat !== chat) return false;
  // The preset may have been deleted meanwhile.
  const preset = state().presets.some(({ id }) => id === before.preset) ? before.preset : null;
  const { system_prompt, generation } = before;
  const settings = { system_prompt, generation, preset };
  return replaceSettings(settings, t("reply-preset-chosen.back"));
}

/** Writes the open chat by a preset, or as the app and the model say. */
export function choosePreset(id: number | null): Promise<boolean> {
  const chosen = state().presets.find((preset) => preset.id === id);
  return replaceSettings(
    {
      preset: chosen?.id ?? null,
      system_prompt: chosen?.system_prompt ?? "",
      generation: chosen?.generation ?? null,
    },
    chosen ? t("reply-preset-chosen", { name: chosen.name }) : t("reply-preset-chosen.standard"),
  );
}

/** Keeps the settings of the open chat under a name; the chat is then set by it. */
export const addPreset = (name: string) =>
  attempt(async () => {
    const { chatSettings, navigation } = state();
    const preset = await shell.addPreset(name, chatSettings.system_prompt, generation(state()));
    // Another chat that was opened meanwhile is not meant.
    if (state().navigation.current === navigation.current)
      await changeChatSettings({ preset: preset.id, generation: preset.generation });
  });

/** Gives a preset what the open chat is set to. */
export const changePreset = (before: Preset) =>
  attempt(async () => {
    const { system_prompt } = state().chatSettings;
    const change = (preset: Preset) => chatQueue.run(() => shell.changePreset(preset));
    await change({ ...before, system_prompt, generation: generation(state()) });
    const undo = () => change(before);
    setView({ note: { text: t("reply-preset-updated", { name: before.name }), undo } });
  });

/** Deletes a preset. The chat keeps its settings. */
export const deletePreset = ({ id, name }: Preset) =>
  attempt(async () => {
    await chatQueue.run(() => shell.deletePreset(id));
    const { chat, chatSettings, navigation } = state();
    if (chatSettings.preset === id) {
      if (chat === null) setView({ unbegun: { navigation: navigation.current, preset: id } });
      syncChatSettings(chat, { ...chatSettings, preset: null });
    }
    setView({ note: { text: t("reply-preset-deleted", { name }), undo: () => restore(id) } });
  });

/** Brings a preset of the list of what was deleted back. */
export const restorePreset = (id: number) => attempt(() => restore(id));

/** Brings a preset back. Chats that were set by it are so again. */
async function restore(id: number): Promise<void> {
  const chats = await chatQueue.run(() => shell.restorePreset(id));
  const { chat, chatSettings, navigation, unbegun } = state();
  const isUnbegun = unbegun?.preset === id && unbegun.navigation === navigation.current;
  const isSetByIt = chat === null ? isUnbegun : chats.includes(chat);
  if (isSetByIt && chatSettings.preset === null) syncChatSettings(chat, { ...chatSettings, preset: id });
}
