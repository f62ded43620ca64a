import { memo, useState } from "react";
import type { ChatSummary } from "../bridge/bindings";
import { openChat } from "../chat/navigation";
import { useSpotlight } from "../frame/useSpotlight";
import { t } from "../language/text";
import { commas } from "../primitives/format";
import { Icon } from "../primitives/icons";
import { MenuButton } from "../primitives/MenuButton";
import { setView, useStore } from "../state/store";
import { renameChat } from "./actions";
import { chatEntries } from "./chatMenu";
import { pressChat } from "./dragging";
import { NameField } from "./NameField";

interface Props {
  chat: ChatSummary;
  /** It is the one that is shown. */
  current: boolean;
  /** A reply is being written in it. */
  writing: boolean;
  /** Tab leads to it. */
  stop: boolean;
  /** It stands below its project. */
  nested?: boolean;
}

/** A chat in the list. */
export const ChatRow = memo(function ChatRow({ chat, current, writing, stop, nested = false }: Props) {
  const renaming = useStore((state) => state.renaming === chat.id);
  const dragged = useStore((state) => state.dragged?.id === chat.id);
  const [menu, setMenu] = useState(false);
  const row = useSpotlight<HTMLButtonElement>(rowOf(chat.id));
  const title = titleOf(chat);
  if (renaming) return <RenameField chat={chat} />;
  const tabIndex = stop ? 0 : -1;
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the menu has a button too
    <div
      className="chat-row"
      onContextMenu={(event) => {
        event.preventDefault();
        setMenu(true);
      }}
    >
      <button
        type="button"
        ref={row}
        className={["sidebar-row", nested && "nested", dragged && "dragged"].filter(Boolean).join(" ")}
        data-testid="chat"
        aria-current={current ? "page" : undefined}
        title={chat.tags.length === 0 ? title : `${title}\n${commas(chat.tags)}`}
        tabIndex={tabIndex}
        onPointerDown={(event) => pressChat(event, chat.id)}
        onClick={() => openChat(chat.id)}
        onDoubleClick={() => setView({ renaming: chat.id })}
      >
        <span className="chat-title">{title}</span>
        <Dot chat={chat} writing={writing} />
      </button>
      <MenuButton
        label={t("chats-more", { title })}
        testId="chat-more"
        open={menu}
        onOpenChange={setMenu}
        tabIndex={tabIndex}
        entries={chatEntries(chat)}
      >
        <Icon name="more" />
      </MenuButton>
    </div>
  );
});

/** Says in the list what goes on in a chat, or what has ended there unseen. */
export function Dot({ chat, writing }: { chat: ChatSummary; writing: boolean }) {
  if (writing) return <span className="writing-dot" role="img" aria-label={t("chats-writing")} />;
  switch (chat.unseen) {
    case null:
      return null;
    case "failed":
      return (
        <span className="failed-dot" role="img" aria-label={t("chats-failed")} title={t("chats-failed")} />
      );
    case "written":
      return (
        <span className="unread-dot" role="img" aria-label={t("chats-unseen")} title={t("chats-unseen")} />
      );
  }
}

/** Where a chat is given another name: in the list, or as the title of its own window. */
export function RenameField({ chat }: { chat: ChatSummary }) {
  return (
    <NameField
      name={chat.title}
      label={t("chats-name-field")}
      placeholder={t("chats-name-field.placeholder")}
      testId="rename"
      onDone={(name, byKey) => {
        // Whoever has clicked elsewhere wants the focus there.
        setView({ renaming: null, ...(byKey && { spotlight: rowOf(chat.id) }) });
        if (name !== null && name !== chat.title) renameChat(chat.id, name);
      }}
    />
  );
}

/** Names the row of a chat for the spotlight. */
const rowOf = (chat: number): string => `chat:${chat}`;

export const titleOf = ({ title }: ChatSummary): string => title || t("chats-unnamed");
