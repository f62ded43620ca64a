import { useVirtualizer } from "@tanstack/react-virtual";
import { useCallback, useEffect, useLayoutEffect, useRef } from "react";
import type { Message } from "../bridge/bindings";
import { openFind } from "../find/actions";
import { FindBar } from "../find/FindBar";
import { useFind } from "../find/useFind";
import { EmptyChat } from "../frame/EmptyChat";
import { t } from "../language/text";
import { ProjectPage } from "../projects/ProjectPage";
import { shownProject } from "../state/server";
import { setView, useStore } from "../state/store";
import { Question } from "./Question";
import { Reply } from "./Reply";
import { Summary } from "./Summary";
import { useStickToBottom } from "./useStickToBottom";
import { isSummary } from "./view";

/** Messages that are drawn above and below those in view. */
const NEARBY = 6;
/** Pixels between two messages. */
const GAP = 24;
/** Pixels above the first message, and those that the bar over the conversation takes besides. */
const PADDING = 16;
const BAR = 40;

/** The open chat. Only what is in view is drawn, and a little around it. */
export function Conversation() {
  const opened = useStore((state) => state.opened);
  const chat = useStore((state) => state.chat);
  const messages = useStore((state) => state.messages);
  const title = useStore((state) => state.about?.title ?? t("chat-conversation.untitled"));
  const questionsSent = useStore((state) => state.questionsSent);
  const jump = useStore((state) => state.jump);
  const project = useStore(shownProject);
  const finding = useStore((state) => openFind(state) !== null);
  const { scroller, room, content, away, scrolled, toEnd, leaveEnd, keepsEnd } = useStickToBottom(
    messages.length > 0,
  );
  const list = useVirtualizer({
    count: messages.length,
    getScrollElement: () => scroller.current,
    estimateSize: (index) => likelyHeight(messages[index]),
    getItemKey: (index) => messages[index]?.id ?? index,
    overscan: NEARBY,
    gap: GAP,
    paddingStart: PADDING + (finding ? BAR : 0),
    paddingEnd: GAP,
  });
  // Where the end is kept in view nothing else moves it; else what is read stays in its place.
  list.shouldAdjustScrollPositionOnItemSizeChange = ({ key, start, end }, _, given) => {
    if (keepsEnd()) return false;
    const [top, known] = [given.scrollOffset ?? 0, given.itemSizeCache.has(key)];
    return known ? end <= top && given.scrollDirection !== "backward" : start < top;
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: a chat opens at its end, and a question brings one there
  useLayoutEffect(toEnd, [chat, project?.id, questionsSent, toEnd]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: only a new jump moves the view
  useLayoutEffect(() => {
    const index = messages.findIndex(({ id }) => id === jump?.message);
    // What is looked for there is brought into view itself.
    const looked = jump?.highlighted && useStore.getState().find?.current.message === jump.message;
    if (index < 0 || looked) return;
    leaveEnd();
    list.scrollToIndex(index, { align: jump?.highlighted ? "center" : "auto" });
  }, [jump]);

  // Nothing covers the first message, and what is read below it stays where it is.
  const wasFinding = useRef(finding);
  useLayoutEffect(() => {
    const box = scroller.current;
    if (finding === wasFinding.current || !box) return;
    wasFinding.current = finding;
    if (box.scrollTop > 0) box.scrollTop += finding ? BAR : -BAR;
  }, [finding, scroller]);

  const approach = useCallback(
    (index: number) => {
      const [offset] = list.getOffsetForIndex(index, "center") ?? [];
      if (scroller.current && offset !== undefined) scroller.current.scrollTop = offset;
    },
    [list, scroller],
  );
  useFind({ scroller, approach, leaveEnd });

  // Whoever comes back from another screen is not taken there again.
  useEffect(() => () => setView({ jump: null, find: null }), []);

  const shown = list.getVirtualItems();
  // Where the last message is drawn, all is as high as it is drawn. What was measured lags behind that by a frame, in
  // which what is seen would move.
  const endsDrawn = shown.at(-1)?.index === messages.length - 1;
  return (
    <div className={scrolled ? "conversation-place scrolled" : "conversation-place"}>
      <section
        className="conversation"
        ref={scroller}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable with the keyboard
        tabIndex={0}
        aria-label={t("chat-conversation")}
        data-testid="conversation"
      >
        <div className="column" ref={room}>
          {!opened && <Opening />}
          {opened && messages.length === 0 && (project ? <ProjectPage project={project} /> : <EmptyChat />)}
          {messages.length > 0 && <h1 className="off-screen">{title}</h1>}
          <div
            className="turns"
            ref={content}
            style={{
              paddingTop: shown[0]?.start,
              paddingBottom: messages.length && GAP,
              minHeight: endsDrawn ? undefined : messages.length && list.getTotalSize(),
            }}
          >
            {shown.map(({ index, key }) => (
              <div key={key} ref={list.measureElement} data-index={index}>
                <Turn
                  message={messages[index]}
                  last={index === messages.length - 1}
                  highlighted={jump?.highlighted === true && jump.message === key}
                />
              </div>
            ))}
          </div>
        </div>
      </section>
      <FindBar />
      {away && (
        <button type="button" className="latest" data-testid="latest" onClick={toEnd}>
          {t("chat-conversation.latest")}
        </button>
      )}
    </div>
  );
}

/** Says why there are no chats yet, once that takes long. */
function Opening() {
  return (
    <div className="first-start opening" role="status" data-testid="opening">
      <h1>{t("chat-opening")}</h1>
      <p>{t("chat-opening.why")}</p>
    </div>
  );
}

interface TurnProps {
  message: Message | undefined;
  last: boolean;
  /** A search has led here. */
  highlighted: boolean;
}

function Turn({ message, last, highlighted }: TurnProps) {
  if (!message) return null;
  const drawn = isSummary(message) ? (
    <Summary message={message} />
  ) : message.role === "user" ? (
    <Question message={message} />
  ) : message.role === "assistant" ? (
    <Reply message={message} last={last} />
  ) : null;
  return drawn && <div className={highlighted ? "turn lit" : "turn"}>{drawn}</div>;
}

/** How high a message will be, roughly, until it is drawn. */
function likelyHeight(message: Message | undefined): number {
  const lines = Math.ceil((message?.text.length ?? 0) / 85);
  return message?.role === "user" ? 16 + 23 * lines : 36 + 26 * lines;
}
