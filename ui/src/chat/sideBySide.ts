import { readReply } from "../bridge/replyListeners";
import { attempt } from "../frame/errors";
import { setView, useStore } from "../state/store";
import { answerAgainWith, quietIn, send } from "./actions";
import { contextRoom, longFiles } from "./longFiles";
import { showVersion } from "./navigation";
import { repliesWithVersions } from "./severalVersions";
import { type ChatView, draftKey } from "./view";

const state = () => useStore.getState();

/** Shows a reply beside the version before it, or after where it is the first. */
export function compareVersions(message: number): void {
  const versions = state().versions[message] ?? [];
  const at = versions.indexOf(message);
  const other = versions[at - 1] ?? versions[at + 1];
  if (other === undefined) return;
  const [left, right] = at > 0 ? [other, message] : [message, other];
  setView({ screen: "versions", compared: { left, right }, drawer: false });
}

/** The same for the reply that has the focus, or the last one that has versions. */
export function compareHere(): void {
  const focused = document.activeElement?.closest<HTMLElement>("[data-message]")?.dataset.message;
  const replies = repliesWithVersions(state());
  const reply = replies.find(({ id }) => String(id) === focused) ?? replies.at(-1);
  if (reply) compareVersions(reply.id);
}

/** Goes back to the chat with a version of a reply in it. */
export async function keepVersion(message: number): Promise<void> {
  setView({ screen: "chat" });
  const isShown = state().messages.some(({ id }) => id === message);
  if (isShown || (await showVersion(message))) setView({ jump: { message, highlighted: true } });
}

/**
 * Sends what is typed, and lets another model answer it too once the reply has come, beside it as it is written.
 * Whoever asks further, or leaves, wants no second answer any more.
 */
export async function askTwoModels(path: string, name: string): Promise<void> {
  const { chat, drafts, attached, pictures } = state();
  const key = draftKey(chat);
  const files = attached[key] ?? [];
  const long = longFiles(files, contextRoom(state()), []);
  const sent = await send(drafts[key] ?? "", files, pictures[key] ?? [], long);
  const left = sent?.messages.at(-1)?.message.id;
  if (sent === null || left === undefined) return;
  const second = { chat: sent.chat, name };
  setView({ second });
  const isWanted = () => state().second === second && state().chat === sent.chat;
  await quietIn(sent.chat);
  if (isWanted())
    await attempt(async () => {
      const { status } = await readReply(sent.chat, left);
      // Whoever has stopped it wants no other, and what failed is to be seen.
      if (status.state !== "finished" || status.reason === "cancelled" || status.reason === "error") return;
      await answerAgainWith(
        left,
        path,
        ({ messages }) => {
          forgetSecond(second);
          const right = messages.at(-1)?.message.id;
          if (right !== undefined && state().screen === "chat")
            setView({ screen: "versions", compared: { left, right } });
        },
        isWanted,
      );
    });
  forgetSecond(second);
}

function forgetSecond(second: ChatView["second"]): void {
  if (state().second === second) setView({ second: null });
}
