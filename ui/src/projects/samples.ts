import type { Project } from "../bridge/bindings";
import { DEFAULT_CHAT_SETTINGS } from "../state/server";

export const project = (id: number, more: Partial<Project> = {}): Project => ({
  id,
  name: `Project ${id}`,
  instructions: "",
  settings: DEFAULT_CHAT_SETTINGS,
  folder: null,
  files: [],
  chats: 0,
  ...more,
});
