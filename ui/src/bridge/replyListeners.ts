import { isResting } from "../state/steps";
import { dispatch, useStore } from "../state/store";
import type { CallAnswer, CallId, Message, OpenedChat, Sent } from "./bindings";
import { type ReplyListener, shell } from "./bridge";

const state = () => useStore.getState();

/** Who listens to a reply, by message: where writing it was begun anew, the one before may still be heard. */
const current = new Map<number, object>();
/** Replies that the shell is being asked for. */
const asked = new Set<number>();

/** The chats of replies that rest: they are not among those being written, and end nevertheless. */
const resting = new Map<number, number>();

/** Those who hear of the ends of replies, with their chats. */
const hearers = new Set<(chat: number, reply: Message) => void>();

/** Lets `hear` know of each reply that ends from now on, whether its chat is open or not. */
export const onReplyEnd = (hear: (chat: number, reply: Message) => void): void => void hearers.add(hear);

/** Listens to a reply. `begun` takes what the shell answers and says which message it is. */
function replyListener<T>(begun: (answer: T) => number | undefined): ReplyListener<T> {
  const token = {};
  return {
    begun: (answer) => {
      const message = begun(answer);
      if (message !== undefined) current.set(message, token);
    },
    event: (message, event) => {
      if (current.get(message) !== token) return;
      const chat = state().live[message]?.chat ?? resting.get(message);
      dispatch({ kind: "reply", message, event, at: performance.now() });
      if (event.type !== "ended" || chat === undefined) return;
      if (isResting(event.message)) resting.set(message, chat);
      else {
        resting.delete(message);
        for (const hear of hearers) hear(chat, event.message);
      }
    },
  };
}

/** Listens to the reply to something that was asked. */
export function sentListener(begun: (sent: Sent) => void): ReplyListener<Sent> {
  return replyListener((sent) => {
    begun(sent);
    return sent.messages.at(-1)?.message.id;
  });
}

/** Reads a reply of a chat, whether it is shown or not, and follows it if it is being written. */
export const readReply = (chat: number, id: number): Promise<Message> =>
  new Promise((resolve, reject) => {
    const read = replyListener((message: Message) => {
      dispatch({ kind: "attached", chat, message });
      resolve(message);
      return id;
    });
    shell.attach(id, read).catch(reject);
  });

/** Answers a question about a call of a reply, and follows the reply where it goes on. */
export const decideCall = (chat: number, call: CallId, answer: CallAnswer): Promise<void> =>
  shell.decideCall(
    call,
    answer,
    replyListener((message: Message) => {
      dispatch({ kind: "attached", chat, message });
      if (isResting(message)) resting.set(message.id, chat);
      return message.id;
    }),
  );

/**
 * Follows replies of an opened chat that were begun before this page was there to see it. `anew`: also those that it
 * follows, as another page may have begun writing them anew.
 */
export function attachReplies(
  { chat: { id: chat }, messages }: OpenedChat,
  failed: (error: unknown) => void,
  anew = false,
): void {
  for (const { message } of messages) {
    const { id, status } = message;
    if (status.state !== "streaming" || (state().live[id] && !anew) || asked.has(id)) continue;
    asked.add(id);
    const attached = replyListener((message: Message) => {
      dispatch({ kind: "attached", chat, message });
      return id;
    });
    shell
      .attach(id, attached)
      .catch(failed)
      .finally(() => asked.delete(id));
  }
}
