import type { ChatSummary, Project, ProjectChat } from "../bridge/bindings";
import { t } from "../language/text";
import { dayOf } from "../primitives/format";

/** Whether `one` stands before `other`: pinned ones first, then what was written in last. */
export function isBefore(one: ChatSummary, other: ChatSummary): boolean {
  if (one.pinned !== other.pinned) return one.pinned;
  if (one.updated_at !== other.updated_at) return one.updated_at > other.updated_at;
  return one.id > other.id;
}

/**
 * The list with `chat` in its place, if that is within what is `complete` or begun, and if it has the `tag`. Without
 * one, what is in a project stands there.
 */
export function withChat(
  chats: ChatSummary[],
  chat: ChatSummary,
  tag: string | null,
  complete: boolean,
): ChatSummary[] {
  const others = withoutChat(chats, chat.id);
  if (tag === null ? chat.project !== null : !chat.tags.includes(tag)) return others;
  const at = others.findIndex((other) => isBefore(chat, other));
  if (at >= 0) return others.toSpliced(at, 0, chat);
  // Last of those that are known: what comes after where it stood is still to be read, and it is not in that.
  const before = chats.find(({ id }) => id === chat.id);
  return complete || (before !== undefined && !isBefore(before, chat)) ? [...others, chat] : others;
}

export const withoutChat = (chats: ChatSummary[], id: number): ChatSummary[] =>
  chats.filter((chat) => chat.id !== id);

/** The list with what comes after it. A chat that moved up in the meantime may be in both. */
export function joinPage(chats: ChatSummary[], page: ChatSummary[]): ChatSummary[] {
  const known = new Set(chats.map(({ id }) => id));
  return [...chats, ...page.filter(({ id }) => !known.has(id))];
}

/** What stands in one line of the list. */
export type ListRow =
  | { heading: string; ofProjects?: boolean }
  | { chat: ChatSummary; nested?: boolean }
  | { project: Project; open: boolean };

/** The list with its headings: what is pinned, `projects`, then the days on which chats were last written in. */
export function listRows(chats: ChatSummary[], now: number, projects: ListRow[] = []): ListRow[] {
  let last = "";
  const rows = (some: ChatSummary[]): ListRow[] =>
    some.flatMap((chat) => {
      const heading = chat.pinned ? t("chats-heading-pinned") : dayOf(chat.updated_at, now);
      const rows: ListRow[] = heading === last ? [{ chat }] : [{ heading }, { chat }];
      last = heading;
      return rows;
    });
  const pinned = chats.findIndex((chat) => !chat.pinned);
  const first = pinned < 0 ? chats.length : pinned;
  return [...rows(chats.slice(0, first)), ...projects, ...rows(chats.slice(first))];
}

/** The projects with their heading, and the chats of those that are `open`; nothing where there are none. */
export function projectRows(
  projects: Project[],
  open: number[],
  projectChats: Record<number, ProjectChat[]>,
): ListRow[] {
  if (projects.length === 0) return [];
  const rows = projects.flatMap((project): ListRow[] => {
    const isOpen = open.includes(project.id);
    const chats = isOpen ? (projectChats[project.id] ?? []) : [];
    return [{ project, open: isOpen }, ...chats.map(({ chat }) => ({ chat, nested: true }))];
  });
  return [{ heading: t("chats-heading-projects"), ofProjects: true }, ...rows];
}

/** The tags in a text where commas, of any script, stand between them, each once. */
export function tagsFrom(text: string): string[] {
  const tags = new Map<string, string>();
  for (const part of text.split(/[,，、]/)) {
    const tag = part.trim().replace(/\s+/g, " ");
    if (tag !== "" && !tags.has(tag.toLowerCase())) tags.set(tag.toLowerCase(), tag);
  }
  return [...tags.values()];
}
