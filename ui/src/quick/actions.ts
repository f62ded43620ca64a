import type { Destination } from "../bridge/bindings";
import { shell } from "../bridge/bridge";
import { sentListener } from "../bridge/replyListeners";
import { showError } from "../frame/errors";
import { DEFAULT_CHAT_SETTINGS, streamingReply } from "../state/server";
import { dispatch, setView, useStore } from "../state/store";

const state = () => useStore.getState();

/** After so many milliseconds out of sight, what was asked is no longer what one has in mind. */
const FORGOTTEN = 10 * 60_000;

/** Asks in the chat of the panel, or begins one. Says whether the shell has taken the question. */
export async function ask(text: string): Promise<boolean> {
  const { chat, navigation, sending } = state();
  if (sending) return false;
  setView({ sending: true, actionError: null });
  const from = { navigation: navigation.current, chat };
  const to: Destination =
    chat === null ? { new: { navigation: null, settings: DEFAULT_CHAT_SETTINGS, project: null } } : { chat };
  try {
    await shell.send(
      to,
      text,
      [],
      sentListener((sent) => dispatch({ kind: "sent", from, sent })),
    );
    return true;
  } catch (error) {
    showError(error, chat);
    return false;
  } finally {
    setView({ sending: false });
  }
}

/** Puts away what was asked, for something new. A reply is written on in its chat. */
export function beginAnew(): void {
  dispatch({ kind: "navigation started" });
  dispatch({ kind: "new", navigation: state().navigation.latest });
  setView({ actionError: null });
}

/** The panel is shown again, after `hidden` milliseconds; `open` is the chat that the main window shows. */
export function onShown(open: number | null, hidden: number): void {
  const { chat } = state();
  // The main window is where a chat is that is open there.
  if (chat !== null && (chat === open || (hidden > FORGOTTEN && streamingReply(state()) === null)))
    beginAnew();
}

/** Goes on with the chat in the main window. */
export async function goOnInWindow(): Promise<void> {
  const { chat } = state();
  if (chat === null) return;
  try {
    await shell.goOnInWindow(chat);
    beginAnew();
  } catch (error) {
    showError(error, chat);
  }
}

/** Stops the reply, or puts the panel away. */
export function stopOrLeave(): void {
  const reply = streamingReply(state());
  (reply === null ? shell.closeWindow() : shell.stop(reply)).catch(showError);
}
