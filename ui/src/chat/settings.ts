import type { ChatSettings, GenerationSettings, Sampling } from "../bridge/bindings";
import { shell } from "../bridge/bridge";
import { Optimistic } from "../bridge/optimistic";
import { chatQueue } from "../bridge/serialQueue";
import { showError } from "../frame/errors";
import { changeDefaults } from "../settings/actions";
import { generation } from "../state/server";
import { dispatch, useStore } from "../state/store";

const state = () => useStore.getState();

/** The settings of the chat that were changed last. */
let changing: { chat: number; optimistic: Optimistic<ChatSettings> } | undefined;

function optimisticSettings(chat: number): Optimistic<ChatSettings> {
  if (changing?.chat !== chat) {
    const optimistic = new Optimistic<ChatSettings>({
      queue: chatQueue,
      get: () => state().chatSettings,
      set: (settings) => {
        if (state().chat === chat) dispatch({ kind: "chat settings", settings });
      },
      send: (_, settings) => shell.setChatSettings(chat, settings),
    });
    changing = { chat, optimistic };
  }
  return changing.optimistic;
}

/** The shell has changed how replies are written in the open chat by itself. */
export function syncChatSettings(chat: number | null, settings: ChatSettings): void {
  if (chat === null) dispatch({ kind: "chat settings", settings });
  else optimisticSettings(chat).sync(settings);
}

/** Changes how replies are written in the open chat. Returns whether that is kept. One that is not begun takes it along
 *  when it begins. */
export async function changeChatSettings(
  change: Partial<ChatSettings>,
  chat = state().chat,
): Promise<boolean> {
  if (chat === null) {
    dispatch({ kind: "chat settings", settings: { ...state().chatSettings, ...change } });
    return true;
  }
  try {
    await optimisticSettings(chat).change(change);
    return true;
  } catch (error) {
    showError(error, chat);
    return false;
  }
}

/** Changes settings of the next reply: those of the chat where it has its own, or else those of the app. */
export async function changeSettings(change: Partial<GenerationSettings>): Promise<void> {
  const { generation } = state().chatSettings;
  await (generation === null
    ? changeDefaults(change)
    : changeChatSettings({ generation: { ...generation, ...change } }));
}

export const changeSampling = (change: Partial<Sampling>) =>
  changeSettings({ sampling: { ...generation(state()).sampling, ...change } });
