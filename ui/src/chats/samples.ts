import type { BranchMessage, ChatSummary, OpenedChat } from "../bindings";

/** A chat in the list, for tests. */
export const chatSummary = (id: number, more: Partial<ChatSummary> = {}): ChatSummary => ({
  id,
  title: `Chat ${id}`,
  named: false,
  pinned: false,
  tags: [],
  origin: null,
  created_at: 0,
  updated_at: id,
  ...more,
});

/** A chat as it opens, for tests. */
export const openedChat = (id: number, messages: BranchMessage[] = []): OpenedChat => ({
  chat: chatSummary(id),
  settings: { system_prompt: "", generation: null, model: null, preset: null },
  draft: { text: "", files: [] },
  messages,
});
