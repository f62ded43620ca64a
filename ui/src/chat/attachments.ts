import type { Attachment, Message } from "../bridge/bindings";
import { t } from "../language/text";

/** What stands in a message before the content of a file. */
const HEAD = /\n\nFile: ([^\n]+)\n(`{3,})\n([\s\S]*?)\n\2(?=\n|$)/g;

/** A message with files after its text, as the model reads it and as it is kept. */
export function withFiles(text: string, files: Attachment[]): string {
  return files.reduce((message, file) => {
    // Longer than any run of backticks in the file, so that nothing in it ends it.
    let longest = 2;
    for (const [run] of file.text.matchAll(/`+/g)) longest = Math.max(longest, run.length);
    const fence = "`".repeat(longest + 1);
    return `${message}\n\nFile: ${file.name}\n${fence}\n${file.text}\n${fence}`;
  }, text);
}

/** The text of a message and the files after it. */
export function splitFiles(message: string): { text: string; files: Attachment[] } {
  const files: Attachment[] = [];
  let [text, end] = [message, 0];
  for (const match of message.matchAll(HEAD)) {
    // What is written between two files, or after them, is text, and so is then all before it.
    if (match.index !== end) files.length = 0;
    if (files.length === 0) text = message.slice(0, match.index);
    files.push({ name: match[1] ?? "", text: match[3] ?? "" });
    end = match.index + match[0].length;
  }
  return end === message.length ? { text, files } : { text: message, files: [] };
}

/** The files that went with messages, with the places of those. */
export const sentFiles = (messages: Message[]): (Attachment & { at: number })[] =>
  messages.flatMap(({ role, text }, at) =>
    role === "user" ? splitFiles(text).files.map((file) => ({ ...file, at })) : [],
  );

/** What the reader of a document has said of parts that it left out. */
const LEFT_OUT = /^\[(Only the first [^\]\n]+ were read\.)\]$/gm;

/** What of a document is not in its text, a sentence each. */
export const leftOut = (text: string): string =>
  [...text.matchAll(LEFT_OUT)].map(([, sentence]) => sentence).join("\n");

/** What a file costs, exactly where the model has counted its tokens. */
export const costLabel = (text: string, tokens: number | undefined): string =>
  tokens === undefined
    ? t("chat-file-cost.about", { tokens: likelyTokens(text) })
    : t("chat-file-cost", { tokens });

/**
 * Tokens that a text will be, roughly: four letters of a European language each, or two thirds of a Chinese character.
 */
export function likelyTokens(text: string): number {
  let others = 0;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    // The second half of a pair is no character of its own.
    if (unit > 0x7f && (unit & 0xfc00) !== 0xdc00) others += 1;
  }
  return Math.ceil((text.length - others) / 4 + others / 1.5);
}
