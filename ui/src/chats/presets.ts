import { changeChat } from "../actions";
import type { Preset } from "../bindings";
import { shell } from "../bridge";
import { generation } from "../state";
import { dispatch, useStore } from "../store";
import { attempt } from "./actions";

const state = () => useStore.getState();

function list(presets: Preset[]): void {
  const byName = presets.toSorted((a, b) => a.name.localeCompare(b.name, "en", { sensitivity: "base" }));
  dispatch({ kind: "presets", presets: byName });
}

/** Writes the open chat by a preset, or as the app and the model say. */
export function choosePreset(id: number | null): void {
  const chosen = state().presets.find((preset) => preset.id === id);
  changeChat({
    preset: chosen?.id ?? null,
    system_prompt: chosen?.system_prompt ?? "",
    generation: chosen?.generation ?? null,
  });
}

/** Keeps the settings of the open chat under a name; the chat is then set by it. */
export const keepAsPreset = (name: string) =>
  attempt(async () => {
    const preset = await shell.addPreset(name, state().chatSettings.system_prompt, generation(state()));
    list([...state().presets, preset]);
    await changeChat({ preset: preset.id, generation: preset.generation });
  });

/** Gives a preset what the open chat is set to. */
export const updatePreset = ({ id, name }: Preset) =>
  attempt(async () => {
    const { system_prompt } = state().chatSettings;
    const preset = { id, name, system_prompt, generation: generation(state()) };
    await shell.changePreset(preset);
    list(state().presets.map((known) => (known.id === id ? preset : known)));
  });

/** Removes a preset. The chat keeps its settings. */
export const deletePreset = (id: number) =>
  attempt(async () => {
    await shell.deletePreset(id);
    list(state().presets.filter((preset) => preset.id !== id));
    const { chatSettings } = state();
    if (chatSettings.preset === id)
      dispatch({ kind: "chat settings", settings: { ...chatSettings, preset: null } });
  });
