import type { AppEvent, GenerationSettings, Message, Sampling, Sent } from "./bindings";
import { type ReplyListener, reportOf, shell } from "./bridge";
import { addModels, loadLibrary } from "./library/actions";
import { streamingReply } from "./state";
import { dispatch, draftKey, setView, useStore } from "./store";

const state = () => useStore.getState();

function listener(from: number | null): ReplyListener<Sent> {
  return {
    begun: (sent) => dispatch({ kind: "sent", from, sent }),
    event: (message, event) => dispatch({ kind: "reply", message, event, at: performance.now() }),
  };
}

/** Follows replies that were begun before this page was there to see it. */
function attachTo(chat: number, messages: Message[]): void {
  for (const { id, status } of messages) {
    if (status.state !== "streaming" || state().live[id]) continue;
    const attached: ReplyListener<Message> = {
      begun: (message) => dispatch({ kind: "attached", chat, message }),
      event: (message, event) => dispatch({ kind: "reply", message, event, at: performance.now() }),
    };
    shell.attach(id, attached).catch(showError);
  }
}

function showError(error: unknown): void {
  setView({ actionError: reportOf(error) });
}

function onAppEvent(event: AppEvent): void {
  dispatch({ kind: "app", event });
  if (event.type === "dropped") addModels(event.paths);
}

/** Shows what the shell knows and follows its changes. */
export async function start(): Promise<void> {
  try {
    const snapshot = await shell.watch(onAppEvent);
    dispatch({ kind: "snapshot", snapshot });
    if (snapshot.chat !== null) attachTo(snapshot.chat, snapshot.messages);
  } catch (error) {
    dispatch({ kind: "app", event: { type: "engine", engine: { state: "failed", error: reportOf(error) } } });
  }
  setView({ opened: true });
  loadLibrary();
}

export function setDraft(text: string): void {
  const { chat, drafts } = state();
  setView({ drafts: { ...drafts, [draftKey(chat)]: text } });
}

async function begin(start: (listener: ReplyListener<Sent>) => Promise<void>): Promise<boolean> {
  if (state().sending) return false;
  setView({ sending: true, actionError: null });
  try {
    await start(listener(state().chat));
    return true;
  } catch (error) {
    showError(error);
    return false;
  } finally {
    setView({ sending: false });
  }
}

/** Sends `text`. The draft is given up only once the shell has it. */
export async function send(text: string): Promise<void> {
  const key = draftKey(state().chat);
  const sent = await begin((replies) => shell.send(text, replies));
  const { drafts } = state();
  if (sent && drafts[key] === text) setView({ drafts: { ...drafts, [key]: "" } });
}

export const retry = (message: number) => begin((replies) => shell.retry(message, replies));
export const continueReply = (message: number) => begin((replies) => shell.continue(message, replies));

/** Stops the reply of the open chat, if one is being written. */
export function stop(): boolean {
  const reply = streamingReply(state());
  if (reply === null) return false;
  shell.stop(reply).catch(showError);
  return true;
}

export async function newChat(): Promise<void> {
  setView({ screen: "chat" });
  try {
    await shell.newChat();
    dispatch({ kind: "new" });
    setView({ actionError: null });
  } catch (error) {
    showError(error);
  }
}

export async function openChat(chat: number): Promise<void> {
  setView({ screen: "chat" });
  if (state().chat === chat) return;
  try {
    const messages = await shell.openChat(chat);
    dispatch({ kind: "opened", chat, messages });
    setView({ actionError: null });
    attachTo(chat, messages);
  } catch (error) {
    showError(error);
  }
}

/** Changes settings of the next reply; they show at once and go back if the shell refuses them. */
export async function changeSettings(change: Partial<GenerationSettings>): Promise<void> {
  const before = state().settings;
  const settings = { ...before, ...change };
  dispatch({ kind: "settings", settings });
  try {
    await shell.setSettings(settings);
  } catch (error) {
    if (state().settings === settings) dispatch({ kind: "settings", settings: before });
    showError(error);
  }
}

export const changeSampling = (change: Partial<Sampling>) =>
  changeSettings({ sampling: { ...state().settings.sampling, ...change } });

async function load(open: () => Promise<unknown>): Promise<void> {
  setView({ modelError: null });
  try {
    await open();
    setView({ modelPicker: false });
  } catch (error) {
    setView({ modelError: reportOf(error) });
  }
}

export const openModel = (path: string) => load(() => shell.openModel(path));
export const selectModel = (path: string) => load(() => shell.selectModel(path));

/** Lets the person choose a folder in the system's dialog and opens it. */
export async function chooseModel(): Promise<void> {
  try {
    const path = await shell.chooseModelFolder();
    if (path !== null) {
      setView({ modelPicker: true });
      await openModel(path);
    }
  } catch (error) {
    setView({ modelError: reportOf(error), modelPicker: true });
  }
}
