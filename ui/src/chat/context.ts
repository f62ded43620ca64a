import type { GenerationSettings, Message, ModelInfo } from "../bridge/bindings";

/** From this share on the context is nearly full. */
const NEARLY = 0.8;

/** How much of what the model can read the chat takes. */
interface ContextUse {
  /** Tokens of the chat, its last reply included. */
  used: number;
  /** Tokens that the model can read. */
  of: number;
  /** Tokens that the next reply may add. */
  reply: number;
  nearly: boolean;
  full: boolean;
}

/** The use as the last reply counted it; null before the first one, and without a model. */
export function contextUse(
  messages: Message[],
  model: ModelInfo | null,
  { max_tokens: reply }: GenerationSettings,
): ContextUse | null {
  const stats = messages.findLast((message) => message.stats !== null)?.stats;
  if (!stats || !model) return null;
  const [used, of] = [stats.prompt_tokens + stats.emitted, model.context_length];
  return { used, of, reply, nearly: used >= NEARLY * of, full: used >= of };
}

/** What comes of a context that fills, and when. */
export function contextLabel({ used, of, reply, nearly, full }: ContextUse): string {
  if (full)
    return "The context is full: the model cannot answer in this chat any more. Branch from an earlier message, or begin a new chat.";
  // Far from the end that is no news: replies are seldom as long as they may be.
  if (nearly && used + reply > of)
    return "The next reply may end where the context does. Nothing is dropped; after that, branch from an earlier message or begin a new chat.";
  if (nearly) return "The context is nearly full. Nothing is dropped: when it is full, the chat ends.";
  return "Nothing is dropped until it is full.";
}
