import type { OpenedChat } from "../bridge/bindings";
import { reportOf, shell } from "../bridge/bridge";
import { attachReplies } from "../bridge/replyListeners";
import { chatQueue } from "../bridge/serialQueue";
import { attempt, noteError, showError } from "../frame/errors";
import { t } from "../language/text";
import { knownChat } from "../state/server";
import { dispatch, setView, useStore } from "../state/store";
import { mergeDraft, mergeEdits, saveDrafts } from "./drafts";
import { isTemporary } from "./view";

const state = () => useStore.getState();

/** Sets out for somewhere else, which is what counts from now on. Returns the number of the navigation. */
function startNavigation(): number {
  setView({ screen: "chat", drawer: false });
  return startHiddenNavigation();
}

/** The same on whatever screen the person is. */
function startHiddenNavigation(): number {
  saveDrafts();
  dispatch({ kind: "navigation started" });
  return state().navigation.latest;
}

/** Whether the person has not set out for anywhere else since. */
const isLatest = (navigation: number) => state().navigation.latest === navigation;

/** Shows what `open` comes to, unless the person has gone elsewhere meanwhile. Returns whether they are there. */
async function navigate<T>(
  navigation: number,
  open: () => Promise<T>,
  show: (answer: T) => void,
): Promise<boolean> {
  try {
    // What was changed before is to be seen there.
    await chatQueue.settled();
    const answer = await open();
    if (!isLatest(navigation)) return false;
    const { chat, messages } = state();
    show(answer);
    if (isTemporary(chat) && messages.length > 0 && state().chat !== chat) noteLeft(chat);
    return true;
  } catch (error) {
    if (isLatest(navigation)) {
      dispatch({ kind: "navigation failed" });
      showError(error);
    } else if (reportOf(error).code !== "left") noteError(error);
    return false;
  }
}

/** Says that a temporary chat was left, which can be gone back to for a moment. */
function noteLeft(chat: number): void {
  const undo = () => readAgain(chat);
  setView({ note: { text: t("reply-temporary-left"), undo, about: chat } });
}

/** Leaves the open chat for a new one of which nothing is stored. */
export const newTemporaryChat = () => showChat((navigation) => shell.newTemporaryChat(navigation));

/** Stores the open temporary chat, which goes on as any other. */
export async function keepChat(chat: number): Promise<void> {
  // What was typed last is kept with it.
  await saveDrafts();
  if (await showChat((navigation) => shell.keepChat(navigation, chat))) setView({ note: null });
}

/** Leaves the open chat for a new one, in the main window. */
export const newChat = () => beginChat(null);

/** Leaves the open chat for a new one in a project: until it begins, the page of the project is what is seen. */
export const openProject = (project: number) => beginChat(project);

async function beginChat(project: number | null): Promise<void> {
  if (state().alone !== null) return void attempt(() => shell.act("new_chat"));
  const navigation = startNavigation();
  setView({ editing: null, inspectedReply: null });
  await navigate(
    navigation,
    () => shell.newChat(navigation),
    () => {
      dispatch({ kind: "new", navigation, project });
      setView({ actionError: null });
    },
  );
}

/** Shows the chat that `open` comes to. */
export function showChat(
  open: (navigation: number) => Promise<OpenedChat>,
  navigation = startNavigation(),
): Promise<boolean> {
  return navigate(
    navigation,
    () => open(navigation),
    (opened) => {
      mergeDraft(opened.chat.id, opened.draft);
      mergeEdits(opened.edits);
      dispatch({ kind: "opened", navigation, opened });
      setView({ actionError: null, editing: null, inspectedReply: null });
      attachReplies(opened, showError);
    },
  );
}

/** Reads the open chat again, whether it is seen or not. */
export const readAgain = (chat: number) =>
  showChat((navigation) => shell.openChat(navigation, chat), startHiddenNavigation());

/** Opens a chat in the main window. */
export async function openChat(chat: number): Promise<void> {
  const { alone } = state();
  if (alone !== null && alone !== chat) return void attempt(() => shell.goOnInWindow(chat));
  setView({ screen: "chat", drawer: false });
  const { chat: current, navigation } = state();
  // One that is marked as unseen is told to the shell, which takes the mark away.
  const marked = (knownChat(state(), chat)?.unseen ?? null) !== null;
  if (current !== chat || navigation.pending || marked) await readAgain(chat);
}

/** Opens the chat of this window in the main one. */
export const showInMain = (chat: number) => attempt(() => shell.goOnInWindow(chat));

/** Opens the chat of a message, brings that into view, and marks there what `query` finds. */
export async function showMessage(message: number, query: string): Promise<void> {
  const there = await showChat((navigation) => shell.showMessage(navigation, message));
  const { chat } = state();
  if (!there || chat === null) return;
  const current = { message, thought: false, nth: 0 };
  setView({ jump: { message, highlighted: true }, find: { chat, query, current, field: false } });
}

/** Shows another version of a message. */
export const showVersion = (message: number) =>
  showChat((navigation) => shell.showMessage(navigation, message));

/** Goes on from a message in a chat of its own; where a window shows one chat alone, in a window of its own. */
export function branchChat(message: number): Promise<boolean> {
  if (state().alone === null) return showChat((navigation) => shell.branchChat(navigation, message));
  return attempt(async () => openWindow((await shell.branchChat(0, message)).chat.id));
}

/** Opens a chat in a window of its own. */
export async function openWindow(chat: number | null): Promise<void> {
  if (chat === null || isTemporary(chat)) return;
  // What is typed here is to be seen there.
  await saveDrafts();
  await attempt(() => shell.openChatWindow(chat));
}

/** Chats that are being read again, and whether they have changed meanwhile. */
const following = new Map<number, { again: boolean }>();

/** Shows what another window has changed about a chat: one answer at a time, so that the last one is the newest. */
export async function followChat(chat: number): Promise<void> {
  const under = following.get(chat);
  if (under) {
    under.again = true;
    return;
  }
  const follow = { again: true };
  following.set(chat, follow);
  try {
    while (follow.again && state().chat === chat) {
      follow.again = false;
      // What is changed here is newer.
      await chatQueue.settled();
      const { messages, chatSettings } = state();
      const opened = await shell.readChat(chat);
      // Something was sent or changed here while the answer was on its way.
      if (state().messages !== messages || state().chatSettings !== chatSettings) follow.again = true;
      else {
        dispatch({ kind: "followed", opened });
        if (state().chat === chat) attachReplies(opened, showError, true);
      }
    }
  } catch (error) {
    // It may be gone, which is told by itself.
    console.warn(reportOf(error));
  } finally {
    following.delete(chat);
  }
}
