import type { ChatSettings, ChatSummary, Preset, Project, ProjectChat } from "../bridge/bindings";
import { isBefore } from "../chatList/list";

/** The chats of projects with one where it is now, as far as they are known. What it says is read again later. */
export function withProjectChat(
  projectChats: Record<number, ProjectChat[]>,
  chat: ChatSummary | { id: number; project: null },
): Record<number, ProjectChat[]> {
  const lists = Object.entries(projectChats).map(([project, chats]): [string, ProjectChat[]] => {
    const before = chats.find((one) => one.chat.id === chat.id);
    if (chat.project === null || chat.project !== Number(project))
      return [project, before ? chats.filter((one) => one !== before) : chats];
    const others = chats.filter((one) => one !== before);
    const at = others.findIndex(({ chat: other }) => isBefore(chat, other));
    const moved = { chat, excerpt: before?.excerpt ?? "" };
    return [project, others.toSpliced(at < 0 ? others.length : at, 0, moved)];
  });
  return Object.fromEntries(lists);
}

/** What a new chat in a project begins with. A preset that is gone is none. */
export function withProjectSettings({ settings }: Project, presets: Preset[]): ChatSettings {
  const preset = presets.some(({ id }) => id === settings.preset) ? settings.preset : null;
  return { ...settings, preset };
}
