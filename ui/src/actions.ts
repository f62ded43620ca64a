import type {
  AppEvent,
  Attachment,
  ChatSettings,
  GenerationSettings,
  Message,
  OpenedChat,
  Sampling,
  Sent,
  Snapshot,
} from "./bindings";
import { type ReplyListener, reportOf, shell } from "./bridge";
import { attachDropped } from "./chats/attaching";
import { withFiles } from "./chats/attachments";
import { dropDraft, followDraft, saveDrafts, setEdit, setFiles, takeDraft, takeEdits } from "./chats/drafts";
import { importChats } from "./chats/files";
import { addModels, loadLibrary } from "./library/actions";
import { run } from "./palette/table";
import { arePreferencesChanging, changeDefaults } from "./settings/actions";
import { generation, streamingReply } from "./state";
import { dispatch, setView, useStore } from "./store";

const state = () => useStore.getState();

/** Who speaks of a reply, by message: where writing it was begun anew, the one before may still be heard. */
const speakers = new Map<number, object>();

function listener(from: number | null): ReplyListener<Sent> {
  const speaker = {};
  return {
    begun: (sent) => {
      const reply = sent.messages.at(-1);
      if (reply) speakers.set(reply.message.id, speaker);
      dispatch({ kind: "sent", from, sent });
      if (from === null && state().note?.unbegun) setView({ note: null });
    },
    event: (message, event) => {
      if (speakers.get(message) === speaker)
        dispatch({ kind: "reply", message, event, at: performance.now() });
    },
  };
}

/** Follows replies of an opened chat that were begun before this page was there to see it. */
function follow({ chat: { id: chat }, messages }: OpenedChat): void {
  for (const { message } of messages) {
    const { id, status } = message;
    if (status.state !== "streaming" || state().live[id]) continue;
    const speaker = {};
    const attached: ReplyListener<Message> = {
      begun: (message) => {
        speakers.set(id, speaker);
        dispatch({ kind: "attached", chat, message });
      },
      event: (message, event) => {
        if (speakers.get(id) === speaker) dispatch({ kind: "reply", message, event, at: performance.now() });
      },
    };
    shell.attach(id, attached).catch(showError);
  }
}

/** Says why something failed: in the chat that it was about where that is shown, or else in a note. */
export function showError(error: unknown, chat = state().chat): void {
  const report = reportOf(error);
  if (state().screen === "chat" && state().chat === chat) setView({ actionError: report });
  else setView({ note: { words: [report.message, report.hint].filter(Boolean).join(" "), undo: null } });
}

function onAppEvent(event: AppEvent): void {
  if (event.type === "preferences" && arePreferencesChanging()) return;
  dispatch({ kind: "app", event });
  if (event.type === "dropped") onDropped(event.folders, event.files);
  else if (event.type === "action") run(event.action);
  else if (event.type === "open_chat") openChat(event.chat);
  else if (event.type === "closing") handOver();
}

/** Lets the shell keep what was typed and chosen last, before the app ends. */
const handOver = () => Promise.all([saveDrafts(), changing]).then(shell.handedOver);

/** A folder may be a model and a JSON file holds chats; the text of every other file goes with the next message. */
function onDropped(folders: string[], files: string[]): void {
  const [chats, others] = [files.filter(isJson), files.filter((path) => !isJson(path))];
  for (const path of chats) importChats(path);
  if (folders.length > 0) addModels(folders);
  if (others.length > 0) {
    setView({ screen: "chat" });
    attachDropped(others);
  }
}

const isJson = (path: string): boolean => path.toLowerCase().endsWith(".json");

function take(snapshot: Snapshot): void {
  dispatch({ kind: "snapshot", snapshot });
  takeDraft(null, snapshot.new_chat.draft);
  if (snapshot.open) {
    takeDraft(snapshot.open.chat.id, snapshot.open.draft);
    takeEdits(snapshot.open.edits);
    follow(snapshot.open);
  }
}

/** Shows what the shell knows, once more. */
export async function reload(): Promise<void> {
  take(await shell.snapshot());
}

/** Shows what the shell knows and follows its changes. */
export async function start(): Promise<void> {
  try {
    take(await shell.watch(onAppEvent));
  } catch (error) {
    dispatch({ kind: "app", event: { type: "engine", engine: { state: "failed", error: reportOf(error) } } });
  }
  setView({ opened: true });
  window.addEventListener("pagehide", saveDrafts);
  window.addEventListener("blur", saveDrafts);
  loadLibrary();
}

/** Begins a reply. Returns its chat; `null` if none was begun. */
async function begin(start: (listener: ReplyListener<Sent>) => Promise<void>): Promise<number | null> {
  if (state().sending) return null;
  setView({ sending: true, actionError: null });
  const replies = listener(state().chat);
  let chat: number | null = null;
  const begun = (sent: Sent) => {
    chat = sent.chat;
    replies.begun(sent);
  };
  try {
    await start({ ...replies, begun });
    return chat;
  } catch (error) {
    showError(error);
    return null;
  } finally {
    setView({ sending: false });
  }
}

/** Sends `text` with files. Both are given up only once the shell has them. */
export async function send(text: string, files: Attachment[] = []): Promise<void> {
  const { chat, tag } = state();
  const begun = await begin((replies) => shell.send(chat, withFiles(text, files), replies));
  if (begun === null) return;
  dropDraft(chat, text);
  // A file that came meanwhile goes with the next message.
  if (files.length > 0) setFiles(chat, (attached) => attached.filter((file) => !files.includes(file)));
  if (chat !== null) return;
  followDraft(begun);
  // It was begun among the chats with a tag.
  if (tag !== null) shell.tagChat(begun, [tag]).catch(showError);
}

/** Takes a file away from the next message. */
export function detach(index: number): void {
  setFiles(state().chat, (files) => files.toSpliced(index, 1));
}

/** Puts `text` in the place of a message of the person's, and asks again from there. */
export async function edit(message: number, text: string): Promise<void> {
  if ((await begin((replies) => shell.edit(message, text, replies))) !== null) leaveEdit(message);
}

/** Brings the last message of the person's into view, to be changed. */
export function editLast(): void {
  const last = state().messages.findLast(({ role }) => role === "user");
  if (last) setView({ editing: last.id, jump: { message: last.id, lit: false } });
}

/** Closes the form of a message, and forgets what it held. */
export function leaveEdit(message: number): void {
  setView({ editing: null });
  setEdit(message, null);
}

export const retry = (message: number) => begin((replies) => shell.retry(message, replies));
export const answerNow = (message: number) => begin((replies) => shell.answerNow(message, replies));
export const continueReply = (message: number) => begin((replies) => shell.continue(message, replies));

/** Opens an address that was shown in the program that the person uses for it. */
export const openLink = (address: string): Promise<void> => shell.openLink(address).then(() => {}, showError);

/** Stops the reply of the open chat, if one is being written. */
export function stop(): boolean {
  const reply = streamingReply(state());
  if (reply === null) return false;
  shell.stop(reply).catch(showError);
  return true;
}

export async function newChat(): Promise<void> {
  setView({ screen: "chat", editing: null, numbers: null });
  try {
    saveDrafts();
    dispatch({ kind: "new", chat: await shell.newChat() });
    setView({ actionError: null });
  } catch (error) {
    showError(error);
  }
}

/** Shows what a chat has become. */
export function show(opened: OpenedChat): void {
  takeDraft(opened.chat.id, opened.draft);
  takeEdits(opened.edits);
  dispatch({ kind: "opened", opened });
  setView({ actionError: null, editing: null, numbers: null });
  follow(opened);
}

/** Shows the chat that `open` comes to. */
export async function showChat(open: () => Promise<OpenedChat>): Promise<boolean> {
  setView({ screen: "chat" });
  saveDrafts();
  try {
    show(await open());
    return true;
  } catch (error) {
    showError(error);
    return false;
  }
}

export async function openChat(chat: number): Promise<void> {
  setView({ screen: "chat" });
  // One that is marked as unseen is told to the shell, which takes the mark away.
  const marked = state().chats.some(({ id, unseen }) => id === chat && unseen !== null);
  if (state().chat !== chat || marked) await showChat(() => shell.openChat(chat));
}

/** Changes settings of the next reply: those of the chat where it has its own, or else those of the app. */
export async function changeSettings(change: Partial<GenerationSettings>): Promise<void> {
  const { generation } = state().chatSettings;
  await (generation === null
    ? changeDefaults(change)
    : changeChat({ generation: { ...generation, ...change } }));
}

/** Marks text that came from drafts, or no longer. */
export async function toggleRevealDrafts(): Promise<void> {
  const reveal = !state().revealDrafts;
  dispatch({ kind: "reveal drafts", reveal });
  try {
    await shell.setRevealDrafts(reveal);
  } catch (error) {
    if (state().revealDrafts === reveal) dispatch({ kind: "reveal drafts", reveal: !reveal });
    showError(error);
  }
}

/** Shows the numbers of the reply that has the focus, or of the last one; or puts them away. */
export function toggleNumbers(): boolean {
  const { numbers, messages } = state();
  // Out of view a reply is not drawn, and neither are its numbers.
  if (numbers !== null && document.querySelector("[data-testid=stats-popover]")) {
    setView({ numbers: null });
    return true;
  }
  const focused = document.activeElement?.closest<HTMLElement>("[data-message]")?.dataset.message;
  const measured = messages.filter(({ stats }) => stats !== null && stats.emitted > 0);
  const reply = measured.find(({ id }) => String(id) === focused) ?? measured.at(-1);
  if (!reply) return false;
  setView({ numbers: reply.id });
  // Far out of view nothing is drawn.
  if (!document.querySelector(`[data-message="${reply.id}"]`))
    setView({ jump: { message: reply.id, lit: false } });
  return true;
}

/** The last change of a chat's settings; the next one comes after it. */
let changing: Promise<unknown> = Promise.resolve();

/** Changes how replies are written in the open chat. Returns whether that is kept. */
export async function changeChat(change: Partial<ChatSettings>): Promise<boolean> {
  const { chat, chatSettings: before } = state();
  const settings = { ...before, ...change };
  dispatch({ kind: "chat settings", settings });
  const changed = changing.then(() => shell.setChatSettings(chat, settings));
  changing = changed.catch(() => {});
  try {
    await changed;
    return true;
  } catch (error) {
    if (state().chatSettings === settings) dispatch({ kind: "chat settings", settings: before });
    showError(error);
    return false;
  }
}

export const changeSampling = (change: Partial<Sampling>) =>
  changeSettings({ sampling: { ...generation(state()).sampling, ...change } });

async function load(open: () => Promise<unknown>): Promise<void> {
  setView({ modelError: null });
  try {
    await open();
    setView({ modelPicker: false });
  } catch (error) {
    // Why it failed stands in the picker.
    setView({ screen: "chat", modelError: reportOf(error), modelPicker: true });
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
    setView({ screen: "chat", modelError: reportOf(error), modelPicker: true });
  }
}
