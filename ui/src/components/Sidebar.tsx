import type { ComponentType } from "react";
import { newChat, openChat } from "../actions";
import type { Chat } from "../bindings";
import { dayOf } from "../format";
import { openModels } from "../library/actions";
import { SidebarProgress } from "../library/SidebarProgress";
import { type Screen, setView, useStore } from "../store";
import { Icon, type IconName } from "./icons";

export function SidebarToggle() {
  const open = useStore((state) => state.sidebar);
  return (
    <button
      type="button"
      className="icon-button"
      aria-label={open ? "Hide the sidebar" : "Show the sidebar"}
      title={open ? "Hide the sidebar" : "Show the sidebar"}
      aria-expanded={open}
      data-testid="sidebar-toggle"
      onClick={() => setView({ sidebar: !open })}
    >
      <Icon name="sidebar" />
    </button>
  );
}

interface Entry {
  screen: Screen;
  name: string;
  icon: IconName;
  open: () => void;
  /** What goes on behind it. */
  Progress: ComponentType;
}

/** What else there is to open. */
const ENTRIES: Entry[] = [
  { screen: "models", name: "Models", icon: "models", open: openModels, Progress: SidebarProgress },
];

export function Sidebar() {
  const screen = useStore((state) => state.screen);
  const chats = useStore((state) => state.chats);
  const current = useStore((state) => state.chat);
  const live = useStore((state) => state.live);
  const writing = new Set(Object.values(live).map((reply) => reply.chat));
  return (
    <nav className="sidebar" aria-label="Chats and screens">
      <div className="sidebar-head" data-tauri-drag-region>
        <SidebarToggle />
      </div>
      <button type="button" className="sidebar-row new-chat" data-testid="new-chat" onClick={newChat}>
        <Icon name="plus" />
        New chat
      </button>
      <div className="chat-list" data-testid="chat-list">
        {groups(chats).map(([day, group]) => (
          <section key={day} aria-label={day}>
            <h2>{day}</h2>
            <ul>
              {group.map((chat) => (
                <li key={chat.id}>
                  <button
                    type="button"
                    className="sidebar-row"
                    data-testid="chat"
                    aria-current={screen === "chat" && chat.id === current ? "page" : undefined}
                    title={chat.title}
                    onClick={() => openChat(chat.id)}
                  >
                    <span className="chat-title">{chat.title}</span>
                    {writing.has(chat.id) && (
                      <span className="writing-dot" role="img" aria-label="A reply is being written" />
                    )}
                  </button>
                </li>
              ))}
            </ul>
          </section>
        ))}
      </div>
      <ul className="entries">
        {ENTRIES.map(({ screen: name, name: words, icon, open, Progress }) => (
          <li key={name}>
            <button
              type="button"
              className="sidebar-row entry"
              data-testid={`open-${name}`}
              aria-current={screen === name ? "page" : undefined}
              onClick={open}
            >
              <Icon name={icon} />
              <span className="entry-text">{words}</span>
              <Progress />
            </button>
          </li>
        ))}
      </ul>
    </nav>
  );
}

/** The chats under the days they were last written in, newest first. */
function groups(chats: Chat[]): [string, Chat[]][] {
  const now = Date.now();
  const days = new Map<string, Chat[]>();
  for (const chat of chats) {
    const day = dayOf(chat.updated_at, now);
    days.set(day, [...(days.get(day) ?? []), chat]);
  }
  return [...days];
}
