import { type KeyboardEvent, useEffect, useRef } from "react";
import { t } from "../language/text";
import { Icon } from "../primitives/icons";
import { Segments } from "../primitives/Segments";
import { setView, useStore } from "../state/store";
import { closeInspector, toggleInspector } from "./actions";
import { ChatPage } from "./ChatPage";
import { ReplyPage } from "./ReplyPage";
import { type InspectorPage, inspected } from "./view";

/** Opens and closes the panel beside the chat. */
export function InspectorToggle() {
  const open = useStore((state) => state.inspector);
  const words = t(open ? "chat-panel.hide" : "chat-panel.show");
  return (
    <button
      type="button"
      className="icon-button inspector-toggle"
      aria-label={words}
      title={words}
      aria-expanded={open}
      data-testid="inspector-toggle"
      onClick={toggleInspector}
    >
      <Icon name="inspector" />
    </button>
  );
}

const pages = (): { name: string; value: InspectorPage }[] => [
  { name: t("chat-panel.reply"), value: "reply" },
  { name: t("chat-panel.chat"), value: "chat" },
];

/** The panel beside the chat: how a reply was made, or how the chat is set up. Nothing in it covers a reply. */
export function Inspector() {
  const page = useStore((state) => state.inspectorPage);
  const choices = pages();
  const reply = useStore(inspected);
  const question = useStore(({ messages }) => messages.find(({ id }) => id === reply?.parent) ?? null);
  const body = useRef<HTMLDivElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another page or reply is read from its beginning
  useEffect(() => body.current?.scrollTo(0, 0), [page, reply?.id]);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Escape" || event.defaultPrevented) return;
    event.preventDefault();
    closeInspector();
  };
  return (
    <aside
      className="inspector"
      aria-label={t("chat-panel")}
      data-testid="inspector"
      data-escape
      onKeyDown={onKeyDown}
    >
      <header className="toolbar" data-tauri-drag-region>
        <Segments
          label={t("chat-panel.shown")}
          choices={choices}
          at={choices.findIndex(({ value }) => value === page)}
          testId="inspector-page"
          onChoose={(inspectorPage) => setView({ inspectorPage })}
        />
        <span className="spring" data-tauri-drag-region />
        <InspectorToggle />
      </header>
      <div className="inspector-body" ref={body}>
        {page === "chat" ? (
          <ChatPage />
        ) : reply ? (
          <ReplyPage message={reply} question={question} />
        ) : (
          <p className="popover-note">{t("chat-panel.empty")}</p>
        )}
      </div>
    </aside>
  );
}
