import { type ComponentType, useRef } from "react";
import { openBenchmarks } from "../benchmarks/actions";
import { newChat } from "../chat/navigation";
import { ChatList } from "../chatList/ChatList";
import { Deletions } from "../chatList/Deletions";
import { chooseImport, exportChats } from "../chatList/files";
import { SearchField, SearchResults } from "../chatList/Search";
import { TagFilter } from "../chatList/TagFilter";
import { openModels } from "../models/actions";
import { BenchmarkProgress, SidebarProgress } from "../models/SidebarProgress";
import { Icon, type IconName } from "../primitives/icons";
import { MenuButton } from "../primitives/MenuButton";
import { openSettings } from "../settings/actions";
import { setView, useStore } from "../state/store";
import { SidebarEdge, useSidebarWidth } from "./SidebarEdge";
import type { Screen } from "./view";

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
  Progress?: ComponentType;
}

/** What else there is to open. */
const ENTRIES: Entry[] = [
  { screen: "models", name: "Models", icon: "models", open: openModels, Progress: SidebarProgress },
  {
    screen: "benchmarks",
    name: "Benchmarks",
    icon: "benchmarks",
    open: openBenchmarks,
    Progress: BenchmarkProgress,
  },
  { screen: "settings", name: "Settings", icon: "settings", open: () => openSettings() },
];

export function Sidebar() {
  const screen = useStore((state) => state.screen);
  const searching = useStore((state) => state.query.trim() !== "");
  const sidebar = useRef<HTMLElement>(null);
  const { width, setDragged } = useSidebarWidth();
  return (
    <nav
      ref={sidebar}
      className="sidebar"
      style={width === null ? undefined : { width }}
      aria-label="Chats and screens"
    >
      <div className="sidebar-head" data-tauri-drag-region>
        <MenuButton
          label="More for all chats"
          testId="chats-more"
          entries={[
            { name: "Import chats…", reason: null, onSelect: chooseImport },
            { name: "Export all chats…", reason: null, onSelect: () => exportChats(null, "json") },
          ]}
        >
          <Icon name="more" />
        </MenuButton>
        <SidebarToggle />
      </div>
      <button type="button" className="sidebar-row new-chat" data-testid="new-chat" onClick={newChat}>
        <Icon name="plus" />
        New chat
      </button>
      <SearchField />
      {searching ? (
        <SearchResults />
      ) : (
        <>
          <TagFilter />
          <ChatList />
        </>
      )}
      <Deletions />
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
              {Progress && <Progress />}
            </button>
          </li>
        ))}
      </ul>
      <SidebarEdge sidebar={sidebar} setDragged={setDragged} />
    </nav>
  );
}
