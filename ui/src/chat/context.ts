import type { GenerationSettings, Message, ModelInfo } from "../bridge/bindings";
import { locale, t } from "../language/text";
import { ownLack } from "../settings/ownTools";
import { openProject, type ServerState } from "../state/server";
import { likelyTokens } from "./attachments";
import { isSummary } from "./view";

/** From this share on the context is nearly full. */
const NEARLY = 0.8;

/** How much of what the model can read the chat takes. */
export interface ContextUse {
  /** Tokens of the chat, its last reply included. */
  used: number;
  /** Tokens that the model can read. */
  of: number;
  /** Tokens that the next reply may add. */
  reply: number;
  nearly: boolean;
  full: boolean;
  /** Whether nobody has counted all of it. */
  about: boolean;
}

/**
 * The place of the last reply that has counted what it read and wrote; -1 where there is none. Those that were written
 * before a summary have read what it stands for.
 */
export function lastCounted(messages: Message[]): number {
  const since = messages.find(isSummary)?.created_at ?? 0;
  return messages.findLastIndex(({ stats, created_at }) => stats !== null && created_at >= since);
}

/** Whether no reply has counted what a chat takes since its summary was written or changed. */
export const isUncounted = (messages: Message[]): boolean =>
  messages.some(isSummary) && lastCounted(messages) < 0;

/** What a chat knows before anything is said: what all should know, what its project tells, and its system prompt. */
export function toldTexts(state: ServerState): string[] {
  const { preferences, chatSettings } = state;
  const standing = chatSettings.without_standing ? "" : preferences.standing_instructions;
  const shared = chatSettings.without_project ? "" : (openProject(state)?.instructions ?? "");
  return [standing, shared, chatSettings.system_prompt].filter((text) => text !== "");
}

/** What tells the model of the tools that the open chat may use. It begins each prompt. */
export function toolTexts({ tools, chatSettings, engine }: ServerState): string[] {
  if (engine.state === "ready" && !engine.model.tools) return [];
  const isChosen = (id: string) => chatSettings.tools.includes(id);
  const own = tools.built_in.filter(({ id }) => isChosen(id) && ownLack(id, tools) === null);
  const servers = tools.servers.filter(({ slug, enabled }) => enabled && isChosen(slug));
  return [...own, ...servers].flatMap((source) => source.tools.map(({ listed }) => listed));
}

/** All that is read of the open chat where that is uncounted; nothing elsewhere. */
export const uncountedTexts = (state: ServerState): string[] =>
  isUncounted(state.messages)
    ? [...toldTexts(state), ...toolTexts(state), ...state.messages.map(({ text }) => text)]
    : [];

/** The tokens of that, those of each text as `counted` or else as they are likely; null where a reply has counted. */
export function estimate(state: ServerState, counted: (number | undefined)[] = []): number | null {
  if (!isUncounted(state.messages)) return null;
  const texts = uncountedTexts(state).map((text, index) => counted[index] ?? likelyTokens(text));
  const pictures = state.messages.flatMap(({ pictures }) => pictures.map(({ tokens }) => tokens));
  return [...texts, ...pictures].reduce((all, tokens) => all + tokens, 0);
}

/** The use as the last reply counted it, or else as it is `estimated`; null where nobody knows, and without a model. */
export function contextUse(
  messages: Message[],
  model: ModelInfo | null,
  { max_tokens: reply }: GenerationSettings,
  estimated: number | null = null,
): ContextUse | null {
  const stats = messages[lastCounted(messages)]?.stats;
  const used = stats ? stats.prompt_tokens + stats.emitted : estimated;
  if (used === null || !model) return null;
  const of = model.context_length;
  return { used, of, reply, nearly: used >= NEARLY * of, full: used >= of, about: !stats };
}

/** What comes of a context that fills, and when. */
export function contextLabel({ used, of, reply, nearly, full }: Omit<ContextUse, "about">): string {
  if (full) return t("chat-filling.full");
  // Far from the end that is no news: replies are seldom as long as they may be.
  if (nearly && used + reply > of) return t("chat-filling.may-end");
  return t(nearly ? "chat-filling.nearly" : "chat-filling");
}

/** Words that a token is, roughly; in Chinese and Japanese, whose words are not told apart, characters. */
const wordsPerToken = (): number => (/^(?:zh|ja)/.test(locale()) ? 1.5 : 0.7);

/** How much may still be written in the chat, as a sentence. */
export const roomLabel = ({ used, of, full }: Omit<ContextUse, "about">): string =>
  full ? t("chat-room.none") : t("chat-room", { words: roundly(wordsPerToken() * (of - used)) });

/** A number of which only the first two digits are known. */
function roundly(value: number): number {
  const unit = 10 ** Math.max(0, Math.floor(Math.log10(Math.max(1, value))) - 1);
  return Math.round(value / unit) * unit;
}

/** Tokens, and whether they were only estimated. */
export interface Amount {
  tokens: number;
  about: boolean;
}

/** A part of the context. */
interface ContextPart extends Amount {
  kind: "always" | "tools" | "files" | "messages" | "free";
  name: string;
}

/**
 * As much of an amount as there is room for. What is estimated may be more, and so may a system prompt that has become
 * longer since the last reply was asked for: how much of it is there, nobody knows.
 */
const within = ({ tokens, about }: Amount, room: number): Amount =>
  tokens > room ? { tokens: room, about: true } : { tokens, about };

/**
 * What fills the context, part by part, and what is free; together all of it. Messages are what `always`, the system
 * prompt, the tools and the files leave of what is used, so what the chat template adds is among them.
 */
export function contextParts(
  { used, of }: Pick<ContextUse, "used" | "of">,
  always: Amount,
  tools: Amount,
  files: Amount,
): ContextPart[] {
  const known = within(always, used);
  const listed = within(tools, used - known.tokens);
  const read = within(files, used - known.tokens - listed.tokens);
  const messages = {
    tokens: used - known.tokens - listed.tokens - read.tokens,
    about: known.about || listed.about || read.about,
  };
  return [
    { kind: "always", name: t("chat-fills.always"), ...known },
    { kind: "tools", name: t("chat-fills.tools"), ...listed },
    { kind: "files", name: t("chat-fills.files"), ...read },
    { kind: "messages", name: t("chat-fills.messages"), ...messages },
    { kind: "free", name: t("chat-fills.free"), tokens: Math.max(0, of - used), about: false },
  ];
}
