import { type KeyboardEvent, type RefObject, useEffect, useLayoutEffect, useRef } from "react";
import type { ErrorReport, Message } from "../bridge/bindings";
import { shell } from "../bridge/bridge";
import { LiveLine } from "../chat/LiveLine";
import { ErrorNote } from "../frame/ErrorNote";
import { useLook } from "../frame/useLook";
import { RichText } from "../language/RichText";
import { t } from "../language/text";
import { LinkAddress } from "../markdown/Link";
import { copy } from "../primitives/clipboard";
import { footerParts } from "../primitives/format";
import { Glyph } from "../primitives/Glyph";
import { GrowingField } from "../primitives/GrowingField";
import { MAC } from "../primitives/platform";
import { RevealedText } from "../reveal/RevealedText";
import { answerRuns } from "../reveal/useProvenance";
import { openSettings } from "../settings/actions";
import { streamingReply } from "../state/server";
import { type State, useAnswerReason, useModelName, useStore } from "../state/store";
import { ask, beginAnew, goOnInWindow, stopOrLeave } from "./actions";
import { quickKeyLabel } from "./keys";
import { useQuestion } from "./useQuestion";

/** A question in passing, and its reply. */
export function QuickPanel() {
  const [text, setText] = useQuestion();
  const field = useRef<HTMLTextAreaElement>(null);
  const panel = useRef<HTMLElement>(null);
  const messages = useStore((state) => state.messages);
  const error = useStore((state) => state.actionError ?? whyNobodyAnswers(state));
  const model = useModelName();
  const reason = useAnswerReason();
  useLook();
  useFittedHeight(panel);
  useQuickKeys();
  useEffect(() => {
    const focus = () => field.current?.focus();
    focus();
    window.addEventListener("focus", focus);
    return () => window.removeEventListener("focus", focus);
  }, []);

  const onKeyDown = async (event: KeyboardEvent) => {
    if (event.key !== "Enter" || event.shiftKey || event.metaKey || event.ctrlKey) return;
    event.preventDefault();
    if (reason === null && /\S/.test(text) && (await ask(text))) setText("");
  };
  return (
    <main className="quick" ref={panel} data-testid="quick-panel">
      <h1 className="off-screen">{t("action-quick-question")}</h1>
      <div className="quick-head" data-tauri-drag-region>
        <Glyph guesses={1} />
        <GrowingField
          ref={field}
          text={text}
          onText={setText}
          placeholder={t(messages.length > 0 ? "quick-ask.further" : "quick-ask")}
          aria-label={t("quick-ask.label")}
          data-testid="quick-field"
          onKeyDown={onKeyDown}
        />
        <span className="quick-model">{model ?? t("quick-no-model")}</span>
      </div>
      {error && <ErrorNote error={error} testId="quick-error" />}
      {messages.length > 0 && <Exchange messages={messages} />}
      <Keys />
      <LinkAddress />
    </main>
  );
}

/** Why no model can answer; null where one can, or will be tried by the next question. */
const whyNobodyAnswers = ({ engine }: Pick<State, "engine">): ErrorReport | null =>
  engine.state === "failed" && engine.model === null ? engine.error : null;

/** What was asked and answered. The end is in view while it is written. */
function Exchange({ messages }: { messages: Message[] }) {
  const place = useRef<HTMLDivElement>(null);
  const answer = useStore((state) => state.live[messages.at(-1)?.id ?? -1]?.answer);
  // biome-ignore lint/correctness/useExhaustiveDependencies: what is new is at the end
  useLayoutEffect(() => {
    place.current?.scrollTo({ top: place.current.scrollHeight });
  }, [answer, messages.length]);
  return (
    <div className="quick-exchange" ref={place}>
      {messages.map((message) =>
        message.role === "user" ? (
          <p key={message.id} className="quick-question" data-testid="quick-question">
            {message.text}
          </p>
        ) : (
          <QuickReply key={message.id} message={message} />
        ),
      )}
    </div>
  );
}

function QuickReply({ message }: { message: Message }) {
  const live = useStore((state) => state.live[message.id]);
  const wake = useStore((state) => state.preferences.wake);
  const streaming = message.status.state === "streaming";
  const answer = live?.answer ?? message.text;
  const thinks = streaming && answer === "" && (live?.thinking ?? "") !== "";
  return (
    <article
      className="quick-reply"
      data-testid="quick-reply"
      aria-label={t("quick-reply")}
      aria-busy={streaming}
    >
      <RevealedText
        text={answer}
        complete={!streaming}
        runs={null}
        wake={live ? (wake ? answerRuns(live) : []) : null}
      />
      {thinks && <p className="quick-words">{t("quick-reply.thinking")}</p>}
      {message.error && <ErrorNote error={message.error} testId="quick-error" />}
      {streaming ? <LiveLine live={live} /> : <Speed message={message} />}
    </article>
  );
}

/** How fast a finished reply was. */
function Speed({ message: { stats } }: { message: Message }) {
  if (!stats) return null;
  const { gain, speed, pass, accepted } = footerParts(stats);
  const parts = [gain, speed, pass, accepted].filter((part) => part !== null);
  return <p className="quick-words numbers">{parts.join(" · ")}</p>;
}

/** What the keys do, each of which is a button too. */
function Keys() {
  const writing = useStore(streamingReply) !== null;
  const chat = useStore((state) => state.chat);
  const key = useStore((state) => quickKeyLabel(state.preferences.quick_key));
  const control = t("word-key-control");
  const command = MAC ? "⌘" : `${control}+`;
  return (
    <div className="quick-keys">
      <Key
        keys="Esc"
        words={t(writing ? "quick-stop" : "quick-close")}
        testId="quick-close"
        act={stopOrLeave}
      />
      {chat !== null && (
        <>
          <Key
            keys={MAC ? "⌘⏎" : `${control}+Enter`}
            words={t("quick-go-on")}
            testId="quick-go-on"
            act={goOnInWindow}
          />
          <Key keys={`${command}C`} words={t("quick-copy")} testId="quick-copy" act={copyReply} />
          <Key keys={`${command}N`} words={t("quick-anew")} testId="quick-new" act={beginAnew} />
        </>
      )}
      <span className="spring" />
      {chat !== null ? null : key === null ? (
        <button type="button" className="quick-key" onClick={() => openSettings("general")}>
          {t("quick-choose-keys")}
        </button>
      ) : (
        <span>
          <RichText id="quick-shown-by" args={{ keys: key }} parts={{ key: (words) => <kbd>{words}</kbd> }} />
        </span>
      )}
    </div>
  );
}

interface KeyProps {
  keys: string;
  words: string;
  testId: string;
  act: () => unknown;
}

const Key = ({ keys, words, testId, act }: KeyProps) => (
  <button type="button" className="quick-key" data-testid={testId} onClick={() => act()}>
    <kbd>{keys}</kbd> {words}
  </button>
);

/** Copies the last reply. */
function copyReply(): void {
  const reply = useStore
    .getState()
    .messages.findLast(({ role, text }) => role === "assistant" && text !== "");
  if (reply) copy(reply.text);
}

function useQuickKeys(): void {
  useEffect(() => {
    const onKeyDown = (event: globalThis.KeyboardEvent) => {
      if (!act(event)) return;
      event.preventDefault();
    };
    window.addEventListener("keydown", onKeyDown, { capture: true });
    return () => window.removeEventListener("keydown", onKeyDown, { capture: true });
  }, []);
}

/** Whether a key was one of the panel's. */
function act(event: globalThis.KeyboardEvent): boolean {
  if (event.isComposing || event.repeat) return false;
  if (event.key === "Escape") {
    stopOrLeave();
    return true;
  }
  if (!(MAC ? event.metaKey : event.ctrlKey) || event.altKey || event.shiftKey) return false;
  switch (event.key) {
    case "Enter":
      goOnInWindow();
      return true;
    case "n":
      beginAnew();
      return true;
    case "w":
      shell.closeWindow();
      return true;
    case ",":
      openSettings();
      return true;
    case "c":
      // What is selected is what is meant.
      if (`${getSelection()}` !== "" || selectsInField()) return false;
      copyReply();
      return true;
    default:
      return false;
  }
}

function selectsInField(): boolean {
  const field = document.activeElement;
  return field instanceof HTMLTextAreaElement && field.selectionStart !== field.selectionEnd;
}

/** Makes the window as high as what it shows. */
function useFittedHeight(panel: RefObject<HTMLElement | null>): void {
  useLayoutEffect(() => {
    const { current } = panel;
    if (current === null) return;
    const observer = new ResizeObserver(() => {
      shell.fitQuick(current.offsetHeight);
    });
    observer.observe(current);
    return () => observer.disconnect();
  }, [panel]);
}
