import { useLayoutEffect } from "react";
import { useStore } from "../store";
import { useFollow } from "../useFollow";
import { FirstStart } from "./FirstStart";
import { Reply } from "./Reply";

/** The open chat. */
export function Conversation() {
  const opened = useStore((state) => state.opened);
  const chat = useStore((state) => state.chat);
  const messages = useStore((state) => state.messages);
  const title = useStore((state) => state.chats.find(({ id }) => id === chat)?.title ?? "New chat");
  const { scroller, content, away, scrolled, toEnd } = useFollow();
  const lastQuestion = messages.findLast((message) => message.role === "user")?.id;

  // biome-ignore lint/correctness/useExhaustiveDependencies: a chat opens at its end, and a question brings one there
  useLayoutEffect(toEnd, [chat, lastQuestion, toEnd]);

  return (
    <div className={scrolled ? "conversation-place scrolled" : "conversation-place"}>
      <section
        className="conversation"
        ref={scroller}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable with the keyboard
        tabIndex={0}
        aria-label="Conversation"
        data-testid="conversation"
      >
        <div className="column" ref={content}>
          {opened && messages.length === 0 && <FirstStart />}
          {messages.length > 0 && <h1 className="off-screen">{title}</h1>}
          {messages.map((message, index) =>
            message.role === "user" ? (
              <article key={message.id} className="question" data-testid="message-user" aria-label="You">
                {message.text}
              </article>
            ) : message.role === "assistant" ? (
              <Reply key={message.id} message={message} last={index === messages.length - 1} />
            ) : null,
          )}
        </div>
      </section>
      {away && (
        <button type="button" className="latest" data-testid="latest" onClick={toEnd}>
          ↓ latest
        </button>
      )}
    </div>
  );
}
