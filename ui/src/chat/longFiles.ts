import type { Attachment, Passage } from "../bridge/bindings";
import { shell } from "../bridge/bridge";
import { generation, type ServerState } from "../state/server";
import { likelyTokens } from "./attachments";
import { contextUse, estimate } from "./context";

/** How much of the room that a chat has left its files may fill; the rest is for the question and the reply. */
const FILES_SHARE = 0.75;
/** How much of what whole files leave the passages of long ones may fill: the next question needs some too. */
const PASSAGES_SHARE = 0.5;
/** So many tokens of passages are read for a question at most: reading takes time. */
const MOST_PASSAGES = 8000;
/** So many at least, or they say nothing. */
const LEAST_PASSAGES = 400;

/** What stands before the passages of a long file, and what before each. */
const HEAD = "Parts of this file that fit the question, each with its place:";
const PART = /^\[Part: ([^\n]+)\]$/gm;

/** Files that are read in part, and how many tokens each may then take. */
export interface LongFiles {
  files: Attachment[];
  tokens: number;
}

export const NO_LONG_FILES: LongFiles = { files: [], tokens: 0 };

/**
 * Which of the files is longer than what the context has room for. `room`: tokens; null where no model is loaded.
 * `counted`: the tokens of each file, as far as they are known.
 */
export function longFiles(
  files: Attachment[],
  room: number | null,
  counted: (number | undefined)[],
): LongFiles {
  if (room === null) return NO_LONG_FILES;
  let left = FILES_SHARE * room;
  const long: Attachment[] = [];
  const sized = files.map((file, index) => ({ file, tokens: counted[index] ?? likelyTokens(file.text) }));
  // As many as can be are read as a whole.
  for (const { file, tokens } of sized.sort((one, other) => one.tokens - other.tokens)) {
    if (tokens <= left) left -= tokens;
    else long.push(file);
  }
  const each = Math.min(MOST_PASSAGES, (PASSAGES_SHARE * left) / Math.max(1, long.length));
  return { files: long, tokens: Math.max(LEAST_PASSAGES, Math.floor(each)) };
}

/** How many tokens more the model can read in the open chat; null where no model is loaded. */
export function contextRoom(state: ServerState): number | null {
  if (state.engine.state !== "ready") return null;
  const { model } = state.engine;
  const used = contextUse(state.messages, model, generation(state), estimate(state))?.used ?? 0;
  return Math.max(0, model.context_length - used);
}

/** The files as they go with `question`: of long ones the passages that fit it. */
export async function inPart(
  files: Attachment[],
  { files: long, tokens }: LongFiles,
  question: string,
): Promise<Attachment[]> {
  return Promise.all(
    files.map(async (file) =>
      long.includes(file)
        ? { name: file.name, text: withPassages(await shell.passages(file.text, question, tokens)) }
        : file,
    ),
  );
}

/** Passages as a model reads them and as they are kept. */
export const withPassages = (passages: Passage[]): string =>
  [HEAD, ...passages.map(({ place, text }) => `[Part: ${place}]\n${text}`)].join("\n\n");

/** The passages of a file of which only those were sent; none of a whole one. */
export function passagesOf({ text }: Attachment): Passage[] {
  if (!text.startsWith(`${HEAD}\n\n[Part: `)) return [];
  const heads = [...text.matchAll(PART)];
  return heads.map((head, at) => ({
    place: head[1] ?? "",
    text: text.slice(head.index + head[0].length, heads[at + 1]?.index).trim(),
  }));
}

/** A word that occurs more often than this in a passage is not marked. */
const MOST_MARKED = 8;

/** A text in pieces: those that are words of `question` are marked. */
export function marked(text: string, question: string): { text: string; marked: boolean }[] {
  const words = new Set(question.toLowerCase().match(/[\p{L}\p{N}]{3,}/gu) ?? []);
  const pieces = text.split(/([\p{L}\p{N}]{3,})/u).filter((piece) => piece !== "");
  const times = new Map<string, number>();
  for (const piece of pieces) times.set(piece.toLowerCase(), (times.get(piece.toLowerCase()) ?? 0) + 1);
  // What stands everywhere, as an article does, leads nowhere.
  const isRare = (word: string) => (times.get(word) ?? 0) <= MOST_MARKED;
  return pieces.map((piece) => {
    const word = piece.toLowerCase();
    return { text: piece, marked: isRare(word) && isOne(word, words) };
  });
}

/** Whether a word is one of those that were asked for, but for its ending. */
const isOne = (word: string, words: Set<string>): boolean =>
  words.has(word) || [...words].some((one) => one.length > 2 && stem(word) === stem(one));

const stem = (word: string): string => word.replace(/(?<=.{3})(ing|ed|es|s)$/, "");
