import { useRef } from "react";
import { openBenchmarks } from "../benchmarks/actions";
import { newChat } from "../chat/navigation";
import { ChatList } from "../chatList/ChatList";
import { Deletions } from "../chatList/Deletions";
import { chooseImport, exportChats } from "../chatList/files";
import { SearchField } from "../chatList/SearchField";
import { SearchKeys, SearchResults } from "../chatList/SearchResults";
import { TagFilter } from "../chatList/TagFilter";
import { t } from "../language/text";
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
  const label = t(open ? "action-toggle-sidebar.hide" : "action-toggle-sidebar.show");
  return (
    <button
      type="button"
      className="icon-button"
      aria-label={label}
      title={label}
      aria-expanded={open}
      data-testid="sidebar-toggle"
      onClick={toggleSidebar}
    >
      <Icon name="sidebar" />
    </button>
  );
}

/** What else there is to open. */
const screens = (): { screen: Screen | "settings"; name: string; open: () => void }[] => [
  { screen: "models", name: t("action-models"), open: openModels },
  { screen: "benchmarks", name: t("action-benchmarks"), open: openBenchmarks },
  { screen: "settings", name: t("frame-settings"), open: () => openSettings() },
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
      aria-label={t("frame-sidebar")}
      data-testid="sidebar"
      tabIndex={over ? -1 : undefined}
      onBlur={onBlur}
    >
      <div className="sidebar-head" data-tauri-drag-region>
        <MenuButton
          label={t("frame-more-for-chats")}
          testId="chats-more"
          entries={[
            { name: t("action-new-project"), reason: null, onSelect: createProject },
            { name: t("action-import-chats"), reason: null, onSelect: chooseImport },
            { name: t("action-export-chats"), reason: null, onSelect: () => exportChats(null, "json") },
          ]}
        >
          <Icon name="more" />
        </MenuButton>
        <SidebarToggle />
      </div>
      <button type="button" className="sidebar-row new-chat" data-testid="new-chat" onClick={newChat}>
        <Icon name="write" />
        <span className="sidebar-words">{t("action-new-chat")}</span>
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
          {screens().map(({ screen: name, name: words, open }) => (
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
