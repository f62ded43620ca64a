import { noteReport } from "../frame/errors";
import { locale, t } from "../language/text";
import { setView, useStore } from "../state/store";
import { languageOf } from "./language";
import { sentencesIn, sentencesOf } from "./sentences";
import type { Reading } from "./view";

const state = () => useStore.getState();

/** What speaks, where the webview has that. */
const speech = (): SpeechSynthesis | undefined => globalThis.speechSynthesis;

/** The voices that speak on this machine: all others would send the text to somebody. */
const localVoices = (): SpeechSynthesisVoice[] =>
  speech()
    ?.getVoices()
    .filter(({ localService }) => localService) ?? [];

/** Takes note of the voices for as long as the page is there: the system may tell of them late. */
export function followVoices(): void {
  const note = () => setView({ hasVoice: localVoices().length > 0 });
  note();
  speech()?.addEventListener?.("voiceschanged", note);
  window.addEventListener("pagehide", stopReading);
  // One window speaks at a time.
  others.addEventListener("message", stopReading);
  useStore.subscribe(({ reading, messages }) => {
    const message = reading?.message ?? null;
    if (message !== null && messages.every(({ id }) => id !== message)) stopReading();
  });
}

/** Hears when another window begins to read, and says when this one does. */
const others = new BroadcastChannel("reading-aloud");

/** Reads what is selected of a chat, or else the reply that has the focus or the last one; stops where it reads. */
export function toggleReading(): void {
  const selected = selectedText();
  if (state().reading !== null) stopReading();
  else if (selected !== "") begin(null, sentencesIn(selected));
  else readNearest();
}

/** What is selected of the messages; empty where nothing is. */
function selectedText(): string {
  const selection = getSelection();
  return selection?.anchorNode?.parentElement?.closest("[data-message]") ? `${selection}`.trim() : "";
}

/** Reads the reply that has the focus, or the last one. */
function readNearest(): void {
  const focused = document.activeElement?.closest<HTMLElement>("[data-message]")?.dataset.message;
  const replies = state().messages.filter(({ role, text }) => role === "assistant" && text !== "");
  const reply = replies.find(({ id }) => String(id) === focused) ?? replies.at(-1);
  if (reply) readReply(reply.id, reply.text);
}

/** Reads a reply, in place of whatever is read. */
export const readReply = (message: number, text: string): void => begin(message, sentencesOf(text));

function begin(message: number | null, sentences: string[]): void {
  stopReading();
  const language = languageOf(sentences.join(" "), navigator.language);
  voice = voiceFor(language);
  if (sentences.length === 0) refuse(t("aloud-nothing"), "");
  else if (voice === undefined)
    refuse(t("aloud-no-voice", { language: nameOf(language) }), t("aloud-no-voice.hint"));
  else {
    others.postMessage("begun");
    say({ message, sentences, at: 0, paused: false });
  }
}

/** What a language is called in the one of the page. */
const nameOf = (language: string): string =>
  new Intl.DisplayNames(locale(), { type: "language" }).of(language) ?? language;

const refuse = (message: string, hint: string): void => noteReport({ code: "not_read", message, hint });

/** The voice that the system prefers for a language, or any other for it. */
function voiceFor(language: string): SpeechSynthesisVoice | undefined {
  const fitting = localVoices().filter(({ lang }) => lang.split(/[-_]/)[0] === language);
  const preferred = (voice: SpeechSynthesisVoice) =>
    Number(voice.default) * 2 + Number(voice.lang.replace("_", "-") === navigator.language);
  return fitting.sort((one, other) => preferred(other) - preferred(one))[0];
}

/** What is being said. What the webview tells of anything else is late. */
let current: SpeechSynthesisUtterance | null = null;
/** Who says it. */
let voice: SpeechSynthesisVoice | undefined;

/** Says a sentence, and then those behind it. */
function say(reading: Reading): void {
  const utterance = new SpeechSynthesisUtterance(reading.sentences[reading.at]);
  utterance.voice = voice ?? null;
  utterance.lang = voice?.lang ?? "";
  const next = () => {
    if (current !== utterance) return;
    const at = reading.at + 1;
    if (at < reading.sentences.length) say({ ...reading, at });
    else stopReading();
  };
  utterance.addEventListener("end", next);
  // A sentence that cannot be said is no reason to stop.
  utterance.addEventListener("error", next);
  current = utterance;
  setView({ reading });
  speech()?.speak(utterance);
}

/** Ends the sentence that is being said. */
function hush(): void {
  current = null;
  speech()?.cancel();
}

/** Pauses, or goes on with the sentence that was being read. */
export function pauseReading(): void {
  const { reading } = state();
  if (reading === null) return;
  if (reading.paused) say({ ...reading, paused: false });
  else {
    hush();
    setView({ reading: { ...reading, paused: true } });
  }
}

export function stopReading(): void {
  if (state().reading === null) return;
  hush();
  setView({ reading: null });
}
