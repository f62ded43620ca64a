import { useRef } from "react";
import { openBenchmarks } from "../benchmarks/actions";
import { newChat } from "../chat/navigation";
import { ChatList } from "../chatList/ChatList";
import { Deletions } from "../chatList/Deletions";
import { chooseImport, exportChats } from "../chatList/files";
import { SearchField } from "../chatList/SearchField";
import { SearchKeys, SearchResults } from "../chatList/SearchResults";
import { TagFilter } from "../chatList/TagFilter";
import { openModels } from "../models/actions";
import { keysLabel } from "../palette/table";
import { Icon } from "../primitives/icons";
import { MenuButton } from "../primitives/MenuButton";
import { createProject } from "../projects/actions";
import { openSettings } from "../settings/actions";
import { useStore } from "../state/store";
import { UpdateRow } from "../updates/UpdateRow";
import { closeDrawer, toggleSidebar } from "./drawer";
import { SidebarEdge, useSidebarWidth } from "./SidebarEdge";
import { SidebarProgress } from "./SidebarProgress";
import { useDrawer } from "./useDrawer";
import { type Screen, sidebarShown } from "./view";

export function SidebarToggle() {
  const open = useStore(sidebarShown);
  return (
    <button
      type="button"
      className="icon-button"
      aria-label={open ? "Hide the sidebar" : "Show the sidebar"}
      title={open ? "Hide the sidebar" : "Show the sidebar"}
      aria-expanded={open}
      data-testid="sidebar-toggle"
      onClick={toggleSidebar}
    >
      <Icon name="sidebar" />
    </button>
  );
}

/** What else there is to open. */
const SCREENS: { screen: Screen | "settings"; name: string; open: () => void }[] = [
  { screen: "models", name: "Models", open: openModels },
  { screen: "benchmarks", name: "Benchmarks", open: openBenchmarks },
  { screen: "settings", name: "Settings", open: () => openSettings() },
];

export function Sidebar() {
  const screen = useStore((state) => state.screen);
  const searching = useStore((state) => state.query.trim() !== "");
  const sidebar = useRef<HTMLElement>(null);
  const { width, setDragged } = useSidebarWidth();
  const over = useStore((state) => state.narrow);
  const { onBlur } = useDrawer(sidebar, over);
  return (
    <nav
      ref={sidebar}
      className="sidebar"
      style={width === null ? undefined : { width }}
      aria-label="Chats and screens"
      data-testid="sidebar"
      tabIndex={over ? -1 : undefined}
      onBlur={onBlur}
    >
      <div className="sidebar-head" data-tauri-drag-region>
        <MenuButton
          label="More for all chats"
          testId="chats-more"
          entries={[
            { name: "New project", reason: null, onSelect: createProject },
            { name: "Import chats…", reason: null, onSelect: chooseImport },
            { name: "Export all chats…", reason: null, onSelect: () => exportChats(null, "json") },
          ]}
        >
          <Icon name="more" />
        </MenuButton>
        <SidebarToggle />
      </div>
      <button type="button" className="sidebar-row new-chat" data-testid="new-chat" onClick={newChat}>
        <Icon name="write" />
        <span className="sidebar-words">New chat</span>
        <kbd className="keys">{keysLabel("new_chat")}</kbd>
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
      <SidebarProgress />
      <UpdateRow />
      {searching ? (
        <SearchKeys />
      ) : (
        <ul className="screens">
          {SCREENS.map(({ screen: name, name: words, open }) => (
            <li key={name}>
              <button
                type="button"
                className="screen-word"
                data-testid={`open-${name}`}
                aria-current={screen === name ? "page" : undefined}
                onClick={() => {
                  open();
                  closeDrawer();
                }}
              >
                {words}
              </button>
            </li>
          ))}
        </ul>
      )}
      <SidebarEdge sidebar={sidebar} setDragged={setDragged} />
    </nav>
  );
}
