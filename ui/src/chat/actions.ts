import type { Attachment, CallAnswer, CallId, Destination, MessagePicture, Sent } from "../bridge/bindings";
import { type ReplyListener, reportOf, shell } from "../bridge/bridge";
import { decideCall, sentListener } from "../bridge/replyListeners";
import { chatQueue, SerialQueue, settingsQueue } from "../bridge/serialQueue";
import { showError } from "../frame/errors";
import { why } from "../language/told";
import { openModel } from "../models/choose";
import { projectFiles, withProjectFilesAnew } from "../projects/texts";
import { type ChatLocation, isStillThere, streamingReply } from "../state/server";
import { dispatch, setView, useStore } from "../state/store";
import { withFiles } from "./attachments";
import { dropDraft, dropEdit, moveDraft, setFiles, setPictures } from "./drafts";
import { focusComposer } from "./focus";
import { contextRoom, inPart, type LongFiles, longFiles, NO_LONG_FILES } from "./longFiles";
import { followChat, readAgain, showChat } from "./navigation";
import { changeChatSettings } from "./settings";
import { type ChatView, inspected, isMeasured, type QueuedMessage } from "./view";

const state = () => useStore.getState();

/** Where the person is. */
function currentLocation(): ChatLocation {
  const { navigation, chat } = state();
  return { navigation: navigation.current, chat };
}

/** Begins a reply from where the person is. Returns what was sent; null if none was begun. */
async function ask(
  start: (listener: ReplyListener<Sent>) => Promise<void>,
  begun: (sent: Sent) => void = () => {},
  from = currentLocation(),
): Promise<Sent | null> {
  setView({ actionError: null });
  let answer: Sent | null = null;
  try {
    // It goes by what was changed before.
    await Promise.all([chatQueue.settled(), settingsQueue.settled()]);
    await start(
      sentListener((sent) => {
        answer = sent;
        const stays = isStillThere(state(), from, sent);
        dispatch({ kind: "sent", from, sent });
        if (stays) begun(sent);
        else showSent(sent);
      }),
    );
    return answer;
  } catch (error) {
    showError(error, from.chat);
    return null;
  }
}

/** Shows what was sent in the open chat where the page did not expect it, as from another branch of it. */
function showSent({ chat }: Sent): void {
  if (state().chat === chat) readAgain(chat);
}

/** Begins a reply unless another is just being begun. */
async function begin(...asked: Parameters<typeof ask>): Promise<Sent | null> {
  if (state().sending) return null;
  setView({ sending: true });
  try {
    return await ask(...asked);
  } finally {
    setView({ sending: false });
  }
}

/**
 * Sends `text` with files, of long ones what fits it, and pictures. All are given up only once the shell has them.
 * Returns what it has; null if that did not work.
 */
export async function send(
  text: string,
  files: Attachment[] = [],
  pictures: MessagePicture[] = [],
  long: LongFiles = NO_LONG_FILES,
): Promise<Sent | null> {
  const { alone, chat, chatSettings: settings, navigation, tag, newIn: project } = state();
  // Where one chat is shown, no other is begun.
  if (chat === null && alone !== null) return null;
  setView({ second: null });
  const to: Destination =
    chat === null ? { new: { navigation: navigation.current, settings, project } } : { chat };
  const begun = await begin(
    async (replies) => shell.send(to, await withAllFiles(chat, text, files, long), pictures, replies),
    (sent) => {
      // What was changed while the chat began.
      if (chat === null && state().chatSettings !== settings)
        changeChatSettings(state().chatSettings, sent.chat);
    },
  );
  if (begun === null) return null;
  if (chat === null && state().note?.unbegun === navigation.current) setView({ note: null });
  dropDraft(chat, text);
  // A file that came meanwhile goes with the next message, and a long one with each: another part of it may fit that.
  const sent = files.filter((file) => !long.files.includes(file));
  if (sent.length > 0) setFiles(chat, (attached) => attached.filter((file) => !sent.includes(file)));
  if (pictures.length > 0) setPictures(chat, (shown) => withoutSent(shown, pictures));
  if (chat !== null) return begun;
  moveDraft(begun.chat);
  // It was begun among the chats with a tag.
  if (tag !== null) chatQueue.run(() => shell.tagChat(begun.chat, [tag])).catch(showError);
  return begun;
}

/** A question with its files, of long ones what fits it, and with what those of its project say to it. */
async function withAllFiles(
  chat: number | null,
  text: string,
  files: Attachment[],
  long: LongFiles,
): Promise<string> {
  const own = await inPart(files, long, text);
  return withFiles(text, [...own, ...(await projectFiles(chat, text, own))]);
}

/** Sends a message that has waited in a chat, be it open or not. Returns why that did not work; null if it did. */
export async function sendQueued(chat: number, message: Omit<QueuedMessage, "id">): Promise<string | null> {
  const isHere = state().chat === chat;
  // What is sent where nobody is changes nothing of what is shown.
  const from = isHere ? currentLocation() : { navigation: -1, chat: null };
  const { text, files, pictures } = message;
  try {
    await Promise.all([chatQueue.settled(), settingsQueue.settled()]);
    const long = isHere ? longFiles(files, contextRoom(state()), []) : NO_LONG_FILES;
    await shell.send(
      { chat },
      await withAllFiles(chat, text, files, long),
      pictures,
      sentListener((sent) => {
        const stays = isStillThere(state(), from, sent);
        dispatch({ kind: "sent", from, sent });
        if (!stays) showSent(sent);
      }),
    );
    return null;
  } catch (error) {
    return why(reportOf(error));
  }
}

/** Pictures without those that were sent. Their detail may have been changed meanwhile. */
function withoutSent(shown: MessagePicture[], sent: MessagePicture[]): MessagePicture[] {
  const left = sent.map(({ hash }) => hash);
  return shown.filter(({ hash }) => {
    const at = left.indexOf(hash);
    if (at >= 0) left.splice(at, 1);
    return at < 0;
  });
}

/** Puts `text` with pictures in the place of a message of the person's, and asks again from there. */
export async function edit(message: number, text: string, pictures: MessagePicture[]): Promise<void> {
  const begun = await begin(async (replies) =>
    shell.edit(message, await withProjectFilesAnew(message, text), pictures, replies),
  );
  if (begun !== null) leaveEdit(message);
}

/** Puts `text` in the place of a reply, as a version from which the chat goes on. */
export async function editReply(message: number, text: string): Promise<void> {
  if (!(await showChat((navigation) => shell.editReply(navigation, message, text)))) return;
  leaveEdit(message);
  focusComposer();
}

/** Brings the last message of the person's into view, to be changed. */
export function editLast(): void {
  const last = state().messages.findLast(({ role }) => role === "user");
  if (last) setView({ editing: last.id, jump: { message: last.id, highlighted: false } });
}

/** Closes the form of a message, and forgets what it held. */
export function leaveEdit(message: number): void {
  setView({ editing: null });
  dropEdit(message);
}

export const retry = (message: number) => begin((replies) => shell.retry(message, replies));

/**
 * Lets another model answer once more, and loads the one before again when it has. `begun`: it is being written.
 * Nothing is asked once it is no longer wanted.
 */
export async function answerAgainWith(
  message: number,
  path: string,
  begun?: (sent: Sent) => void,
  isWanted = () => true,
): Promise<void> {
  const before = state().selectedModel;
  const from = currentLocation();
  if (!isWanted() || !(await openModel(path))) return;
  if (isWanted()) {
    const sent = await begin((replies) => shell.retry(message, replies), begun, from);
    if (sent !== null) await quietIn(sent.chat);
  }
  // Whoever has chosen another one meanwhile keeps that.
  if (before !== "" && state().selectedModel === path) await openModel(before);
}

/** Waits until no reply is written in a chat. */
export const quietIn = (chat: number): Promise<void> =>
  new Promise((resolve) => {
    const isQuiet = () => Object.values(state().live).every((live) => live.chat !== chat);
    if (isQuiet()) return resolve();
    const leave = useStore.subscribe(() => {
      if (!isQuiet()) return;
      leave();
      resolve();
    });
  });

export const continueReply = (message: number) => begin((replies) => shell.continue(message, replies));

/** Answers to questions about calls: what the shell says of one must not come behind what it says of a later one. */
const decisions = new SerialQueue();

/** Answers a question about a call of the open chat. Returns whether the shell has the answer. */
export async function decide(call: CallId, answer: CallAnswer): Promise<boolean> {
  const { chat } = state();
  if (chat === null) return false;
  setView({ actionError: null });
  try {
    // It goes by what was changed before.
    await Promise.all([chatQueue.settled(), settingsQueue.settled()]);
    await decisions.run(() => decideCall(chat, call, answer));
    return true;
  } catch (error) {
    showError(error, chat);
    return false;
  }
}

/** Ends a reply of the open chat that rests. Nobody may be listening to it, so it is read once more then. */
export async function endResting(message: number): Promise<void> {
  const { chat } = state();
  try {
    await shell.stop(message);
    if (chat !== null) await followChat(chat);
  } catch (error) {
    showError(error, chat);
  }
}

/** Replies whose thinking is being ended. */
const answering = new Set<number>();

/** Ends the thinking of a reply. The engine may take its time; what is asked elsewhere does not wait for it. */
export async function answerNow(message: number): Promise<void> {
  if (answering.has(message)) return;
  answering.add(message);
  await ask((replies) => shell.answerNow(message, replies));
  answering.delete(message);
}

/** Stops the reply of the open chat, if one is being written. */
export function stop(): boolean {
  const reply = streamingReply(state());
  if (reply === null) return false;
  setView({ second: null });
  shell.stop(reply).catch(showError);
  return true;
}

/** Opens the panel. It can be used at once: a sidebar that lies over the page goes. */
function openInspector(view: Partial<Pick<ChatView, "inspectorPage" | "inspectedReply">> = {}): void {
  setView({ screen: "chat", inspector: true, drawer: false, ...view });
}

/** Opens the panel with what it showed last, or puts it away. */
export function toggleInspector(): void {
  const { screen, inspector } = state();
  if (screen === "chat" && inspector) setView({ inspector: false });
  else openInspector();
}

/** Shows how a reply was made, in the panel; puts the panel away if that is what it shows. */
export function inspectReply(message: number): void {
  if (inspected(state())?.id === message) setView({ inspector: false });
  else openInspector({ inspectorPage: "reply", inspectedReply: message });
}

/** The same for the reply that has the focus, or the last one. */
export function toggleStats(): boolean {
  const shown = inspected(state());
  if (shown) {
    closeInspector();
    return true;
  }
  const focused = document.activeElement?.closest<HTMLElement>("[data-message]")?.dataset.message;
  const measured = state().messages.filter(isMeasured);
  const reply = measured.find(({ id }) => String(id) === focused) ?? measured.at(-1);
  if (!reply) return false;
  inspectReply(reply.id);
  return true;
}

/** Where the panel lies over the page, as in `inspector.css`. */
const PANEL_OVER_PAGE = "(max-width: 1039px)";

/** Brings a message that has other versions into view, with the focus on what leads to one of them. */
export function showWithVersions(message: number): void {
  const step = state().versions[message]?.[0] === message ? "later" : "earlier";
  setView({
    inspector: state().inspector && !matchMedia(PANEL_OVER_PAGE).matches,
    spotlight: `${step}:${message}`,
    jump: { message, highlighted: true },
  });
}

/** Puts the panel away. Whoever was in it goes on at the line of the reply that it told of, or writes. */
export function closeInspector(): void {
  const shown = inspected(state());
  const within = document.activeElement?.closest("[data-testid=inspector]") != null;
  setView({ inspector: false });
  if (!within) return;
  const line =
    shown && document.querySelector<HTMLElement>(`[data-message="${shown.id}"] [data-testid=reply-footer]`);
  if (line) line.focus();
  else focusComposer();
}
