import type {
  AppEvent,
  Attachment,
  ChatSettings,
  Destination,
  GenerationSettings,
  Sampling,
  Sent,
  Snapshot,
} from "../bridge/bindings";
import { type ReplyListener, reportOf, shell } from "../bridge/bridge";
import { chatLine, settingsLine } from "../bridge/inOrder";
import { Kept } from "../bridge/kept";
import { follow, listener } from "../bridge/listening";
import { importChats } from "../chatList/files";
import { addModels, loadLibrary } from "../models/actions";
import { run } from "../palette/table";
import { changeDefaults, hearDefaults, hearPreferences } from "../settings/actions";
import { generation, isThere, type Place, streamingReply } from "../state/state";
import { dispatch, setView, useStore } from "../state/store";
import { attachDropped } from "./attaching";
import { withFiles } from "./attachments";
import { dropDraft, followDraft, saveDrafts, setEdit, setFiles, takeDraft, takeEdits } from "./drafts";
import { openChat, readAgain } from "./navigation";

const state = () => useStore.getState();

/** Says why something failed: in the chat that it was about where that is shown, or else in a note. */
export function showError(error: unknown, chat = state().chat): void {
  if (state().screen === "chat" && state().chat === chat) setView({ actionError: reportOf(error) });
  else noteError(error);
}

/** Says why something failed that has nothing to do with what is shown. */
export function noteError(error: unknown): void {
  const { message, hint } = reportOf(error);
  setView({ note: { words: [message, hint].filter(Boolean).join(" "), undo: null } });
}

function onAppEvent(event: AppEvent): void {
  switch (event.type) {
    case "preferences":
      hearPreferences(event.preferences);
      break;
    case "settings":
      hearDefaults(event.settings);
      break;
    default:
      dispatch({ kind: "app", event });
      if (event.type === "dropped") onDropped(event.folders, event.files);
      else if (event.type === "action") run(event.action);
      else if (event.type === "open_chat") openChat(event.chat);
      else if (event.type === "closing") handOver();
  }
}

/** Lets the shell keep what was typed and chosen last, before the app ends. */
const handOver = () =>
  Promise.all([saveDrafts(), chatLine.settled(), settingsLine.settled()]).then(shell.handedOver);

/** A folder may be a model and a JSON file holds chats; the text of every other file goes with the next message. */
function onDropped(folders: string[], files: string[]): void {
  const [chats, others] = [files.filter(isJson), files.filter((path) => !isJson(path))];
  if (chats.length > 0) importChats(chats);
  if (folders.length > 0) addModels(folders);
  if (others.length > 0) {
    setView({ screen: "chat" });
    attachDropped(others);
  }
}

const isJson = (path: string): boolean => path.toLowerCase().endsWith(".json");

function take(snapshot: Snapshot): void {
  dispatch({ kind: "snapshot", snapshot });
  takeDraft(null, snapshot.draft);
  if (snapshot.open) {
    takeDraft(snapshot.open.chat.id, snapshot.open.draft);
    takeEdits(snapshot.open.edits);
    follow(snapshot.open, showError);
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

/** Where the person is. */
function here(): Place {
  const { navigation, chat } = state();
  return { navigation: navigation.shown, chat };
}

/** Begins a reply from where the person is. Returns its chat; null if none was begun. */
async function ask(
  start: (listener: ReplyListener<Sent>) => Promise<void>,
  begun: (sent: Sent) => void = () => {},
): Promise<number | null> {
  const from = here();
  setView({ actionError: null });
  let chat: number | null = null;
  try {
    // It goes by what was changed before.
    await Promise.all([chatLine.settled(), settingsLine.settled()]);
    await start(
      listener((sent) => {
        chat = sent.chat;
        const stays = isThere(state(), from, sent);
        dispatch({ kind: "sent", from, sent });
        if (stays) begun(sent);
        // Another branch of the chat has been opened meanwhile.
        else if (state().chat === sent.chat) readAgain(sent.chat);
      }),
    );
    return chat;
  } catch (error) {
    showError(error, from.chat);
    return null;
  }
}

/** Begins a reply unless another is just being begun. */
async function begin(...asked: Parameters<typeof ask>): Promise<number | null> {
  if (state().sending) return null;
  setView({ sending: true });
  try {
    return await ask(...asked);
  } finally {
    setView({ sending: false });
  }
}

/** Sends `text` with files. Both are given up only once the shell has them. */
export async function send(text: string, files: Attachment[] = []): Promise<void> {
  const { chat, chatSettings: settings, navigation, tag } = state();
  const to: Destination = chat === null ? { new: { navigation: navigation.shown, settings } } : { chat };
  const begun = await begin(
    (replies) => shell.send(to, withFiles(text, files), replies),
    (sent) => {
      // What was changed while the chat began.
      if (chat === null && state().chatSettings !== settings) changeChat(state().chatSettings, sent.chat);
    },
  );
  if (begun === null) return;
  if (chat === null && state().note?.unbegun === navigation.shown) setView({ note: null });
  dropDraft(chat, text);
  // A file that came meanwhile goes with the next message.
  if (files.length > 0) setFiles(chat, (attached) => attached.filter((file) => !files.includes(file)));
  if (chat !== null) return;
  followDraft(begun);
  // It was begun among the chats with a tag.
  if (tag !== null) chatLine.run(() => shell.tagChat(begun, [tag])).catch(showError);
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
export const continueReply = (message: number) => begin((replies) => shell.continue(message, replies));

/** Replies whose thinking is being ended. */
const answering = new Set<number>();

/** Ends the thinking of a reply. The engine may take its time; what is asked elsewhere does not wait for it. */
export async function answerNow(message: number): Promise<void> {
  if (answering.has(message)) return;
  answering.add(message);
  await ask((replies) => shell.answerNow(message, replies));
  answering.delete(message);
}

/** Opens an address that was shown in the program that the person uses for it. */
export const openLink = (address: string): Promise<void> => shell.openLink(address).then(() => {}, showError);

/** Stops the reply of the open chat, if one is being written. */
export function stop(): boolean {
  const reply = streamingReply(state());
  if (reply === null) return false;
  shell.stop(reply).catch(showError);
  return true;
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
  // It holds even where it cannot be written.
  await settingsLine.run(() => shell.setRevealDrafts(reveal)).catch(showError);
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

/** The settings of the chat that were changed last. */
let changing: { chat: number; kept: Kept<ChatSettings> } | undefined;

function keptSettings(chat: number): Kept<ChatSettings> {
  if (changing?.chat !== chat) {
    const kept = new Kept<ChatSettings>({
      line: chatLine,
      now: () => state().chatSettings,
      show: (settings) => {
        if (state().chat === chat) dispatch({ kind: "chat settings", settings });
      },
      send: (_, settings) => shell.setChatSettings(chat, settings),
    });
    changing = { chat, kept };
  }
  return changing.kept;
}

/** The shell has changed how replies are written in the open chat by itself. */
export function hearChat(chat: number | null, settings: ChatSettings): void {
  if (chat === null) dispatch({ kind: "chat settings", settings });
  else keptSettings(chat).heard(settings);
}

/** Changes how replies are written in the open chat. Returns whether that is kept. One that is not begun takes it along
 *  when it begins. */
export async function changeChat(change: Partial<ChatSettings>, chat = state().chat): Promise<boolean> {
  if (chat === null) {
    dispatch({ kind: "chat settings", settings: { ...state().chatSettings, ...change } });
    return true;
  }
  try {
    await keptSettings(chat).change(change);
    return true;
  } catch (error) {
    showError(error, chat);
    return false;
  }
}

export const changeSampling = (change: Partial<Sampling>) =>
  changeSettings({ sampling: { ...generation(state()).sampling, ...change } });

/** The model that was chosen last. */
let loading = 0;

async function load(open: () => Promise<unknown>): Promise<void> {
  loading += 1;
  const [mine, { screen }] = [loading, state()];
  setView({ modelError: null });
  try {
    await open();
    if (mine === loading) setView({ modelPicker: false });
  } catch (error) {
    // Why it failed stands in the picker, for whoever is still there.
    if (mine !== loading) return;
    if (state().screen === screen)
      setView({ screen: "chat", modelError: reportOf(error), modelPicker: true });
    else noteError(error);
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
