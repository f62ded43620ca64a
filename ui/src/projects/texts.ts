import type { Attachment, ChatSettings, Message, Project, ProjectFile } from "../bridge/bindings";
import { shell } from "../bridge/bridge";
import { likelyTokens, sentFiles, splitFiles, withFiles } from "../chat/attachments";
import { isUncounted, lastCounted } from "../chat/context";
import { contextRoom, passagesOf, withPassages } from "../chat/longFiles";
import { openProject, shownProject } from "../state/server";
import { useStore } from "../state/store";
import { readFolderFor } from "./actions";

/** How much of the room that a chat has left whole files may fill; the rest is for passages and for what is said. */
const WHOLE_SHARE = 0.5;
/** How much of what they leave passages may fill: the next question needs some too. */
const PASSAGES_SHARE = 0.25;
/** So many tokens of passages are read for a question at most: reading takes time. */
const MOST_PASSAGES = 6000;
/** The room of a model that is not known yet, in tokens. */
const UNKNOWN_ROOM = 8192;
/** A question waits so many milliseconds at most for what has changed in the folder. */
const PATIENCE = 2000;

/** How the files of a project are read for a question. */
export interface Reading {
  /** Those that are read as a whole. */
  whole: number[];
  /** How many tokens the passages of the others may take together. */
  tokens: number;
}

/**
 * Which files of a project are read as a whole where there is so much `room`, in tokens: the shortest first. What was
 * `sent` as it is takes no more of it.
 */
export function readingOf(files: ProjectFile[], room: number, sent: ReadonlySet<string>): Reading {
  let left = WHOLE_SHARE * room;
  const whole: number[] = [];
  for (const { id, name, tokens } of files.toSorted((one, other) => one.tokens - other.tokens)) {
    if (!sent.has(name)) {
      if (tokens > left) continue;
      left -= tokens;
    }
    whole.push(id);
  }
  const rest = PASSAGES_SHARE * (left + (1 - WHOLE_SHARE) * room);
  return { whole, tokens: whole.length === files.length ? 0 : Math.floor(Math.min(MOST_PASSAGES, rest)) };
}

const state = () => useStore.getState();

/** A chat as far as it matters here. */
interface Asked {
  project: number | null;
  settings: ChatSettings;
  messages: Message[];
}

/** The chat that is asked in; null is the new one. */
async function askedIn(chat: number | null): Promise<Asked> {
  const now = state();
  const { messages, chatSettings: settings } = now;
  if (chat === null) return { project: shownProject(now)?.id ?? null, settings, messages };
  if (chat === now.chat) return { project: now.about?.project ?? null, settings, messages };
  const read = await shell.readChat(chat);
  const branch = read.messages.map(({ message }) => message);
  return { project: read.chat.project, settings: read.settings, messages: branch };
}

/** How many tokens are read before the files of a project that no reply has counted yet. */
function uncounted({ settings, messages }: Asked, project: Project, said: string[]): number {
  // The room that is left is estimated with all that is there already.
  if (isUncounted(messages)) return said.reduce((all, text) => all + likelyTokens(text), 0);
  const counted = lastCounted(messages);
  const instructions = settings.without_standing ? "" : state().preferences.standing_instructions;
  const told = counted >= 0 ? [] : [instructions, project.instructions, settings.system_prompt];
  const since = messages.slice(counted + 1).map(({ text }) => text);
  return [...told, ...since, ...said].reduce((all, text) => all + likelyTokens(text), 0);
}

/**
 * What the files of its project add to a `question` in a chat with files of its `own`: short ones as a whole, unless
 * they stand in the chat as they are, and of the others what fits the question. `edited`: the message in whose place
 * the question is put.
 */
export async function projectFiles(
  chat: number | null,
  question: string,
  own: Attachment[] = [],
  edited: number | null = null,
): Promise<Attachment[]> {
  if (state().projects.length === 0) return [];
  const all = await askedIn(chat);
  const at = all.messages.findIndex(({ id }) => id === edited);
  const asked = { ...all, messages: at < 0 ? all.messages : all.messages.slice(0, at) };
  const { project: id, settings, messages } = asked;
  const project = state().projects.find((project) => project.id === id);
  if (!project || settings.without_project) return [];
  await readFolderFor(project, PATIENCE);
  const now = state();
  const files = now.projects.find(({ id }) => id === project.id)?.files ?? [];
  const readable = files.filter(({ trouble }) => trouble === null);
  if (readable.length === 0) return [];
  const sent = [...own, ...sentFiles(messages)].filter((file) => passagesOf(file).length === 0);
  const isSent = (file: { name: string; text: string | null }) =>
    sent.some(({ name, text }) => name === file.name && text === file.text);
  // One that has changed since is to be read anew, as any other.
  const maybe = readable.filter(({ name }) => sent.some((file) => file.name === name)).map(({ id }) => id);
  const before = maybe.length > 0 ? await shell.projectTexts(project.id, "", maybe, 0, false) : [];
  const same = new Set(before.filter(isSent).map(({ name }) => name));
  const room = contextRoom({ ...now, messages, chatSettings: settings }) ?? UNKNOWN_ROOM;
  const left = Math.max(0, room - uncounted(asked, project, [question, ...own.map(({ text }) => text)]));
  const { whole, tokens } = readingOf(readable, left, same);
  const texts = await shell.projectTexts(project.id, question, whole, tokens, messages.length === 0);
  return texts
    .map(({ name, text, passages }) => ({ name, text: text ?? withPassages(passages) }))
    .filter((file) => !isSent(file));
}

/** A message whose wording has changed, with what its project says to that and not to what it was before. */
export async function withProjectFilesAnew(message: number, edited: string): Promise<string> {
  const now = state();
  const project = openProject(now);
  if (!project || now.chat === null || now.chatSettings.without_project) return edited;
  const { text, files } = splitFiles(edited);
  const isFound = (file: Attachment) =>
    passagesOf(file).length > 0 && project.files.some(({ name }) => name === file.name);
  const own = files.filter((file) => !isFound(file));
  return withFiles(text, [...own, ...(await projectFiles(now.chat, text, own, message))]);
}
