import type { Attachment, ChatSettings, Message, ProjectFile } from "../bridge/bindings";
import { shell } from "../bridge/bridge";
import { sentFiles } from "../chat/attachments";
import { contextRoom, passagesOf, withPassages } from "../chat/longFiles";
import { shownProject } from "../state/server";
import { useStore } from "../state/store";
import { readFolder } from "./actions";

/** How much of the room that a chat has left whole files may fill; the rest is for passages and for what is said. */
const WHOLE_SHARE = 0.5;
/** How much of what they leave passages may fill: the next question needs some too. */
const PASSAGES_SHARE = 0.25;
/** So many tokens of passages are read for a question at most: reading takes time. */
const MOST_PASSAGES = 6000;
/** The room of a model that is not known yet, in tokens. */
const UNKNOWN_ROOM = 8192;

/** How the files of a project are read for a question. */
export interface Reading {
  /** Those that are read as a whole. */
  whole: number[];
  /** How many tokens the passages of the others may take together. */
  tokens: number;
}

/**
 * Which files of a project are read as a whole where there is so much `room`, in tokens: the shortest first. What was
 * `sent` whole before takes no more of it.
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

/**
 * What the files of its project add to a `question` in a chat: short ones as a whole, unless they stand in the chat as
 * they are, and of the others what fits the question.
 */
export async function projectFiles(chat: number | null, question: string): Promise<Attachment[]> {
  if (state().projects.length === 0) return [];
  const { project: id, settings, messages } = await askedIn(chat);
  const now = state();
  const project = now.projects.find((project) => project.id === id);
  if (!project || settings.without_project) return [];
  await readFolder(project);
  const files = state().projects.find(({ id }) => id === project.id)?.files ?? [];
  const readable = files.filter(({ trouble }) => trouble === null);
  if (readable.length === 0) return [];
  const sent = sentFiles(messages).filter((file) => passagesOf(file).length === 0);
  const room = contextRoom({ ...now, messages, chatSettings: settings }) ?? UNKNOWN_ROOM;
  const { whole, tokens } = readingOf(readable, room, new Set(sent.map(({ name }) => name)));
  const texts = await shell.projectTexts(project.id, question, whole, tokens, messages.length === 0);
  return texts
    .map(({ name, text, passages }) => ({ name, text: text ?? withPassages(passages) }))
    .filter((file) => !sent.some(({ name, text }) => name === file.name && text === file.text));
}
