import { type ComponentType, useEffect } from "react";
import { BenchmarksScreen } from "../benchmarks/BenchmarksScreen";
import { Composer } from "../chat/Composer";
import { Conversation } from "../chat/Conversation";
import { Inspector, InspectorToggle } from "../chat/Inspector";
import { titleOf } from "../chatList/ChatRow";
import { chatEntries } from "../chatList/chatMenu";
import { TagsSheet } from "../chatList/TagsSheet";
import { Trouble } from "../chatList/Trouble";
import { LinkAddress } from "../markdown/Link";
import { JobAnnouncer } from "../models/JobAnnouncer";
import { ModelPicker } from "../models/ModelPicker";
import { ModelsScreen } from "../models/ModelsScreen";
import { Palette } from "../palette/Palette";
import { Shortcuts } from "../palette/Shortcuts";
import type { Run } from "../palette/table";
import { useMenuBar } from "../palette/useMenuBar";
import { Icon } from "../primitives/icons";
import { MenuButton } from "../primitives/MenuButton";
import { MAC } from "../primitives/platform";
import { useStore } from "../state/store";
import { Announcer } from "./Announcer";
import { DropTarget } from "./DropTarget";
import { EngineBanner } from "./EngineBanner";
import { Note } from "./Note";
import { Sidebar, SidebarToggle } from "./Sidebar";
import { useLook } from "./useLook";
import { useShortcuts } from "./useShortcuts";
import type { Screen } from "./view";

/** What fills the window beside the sidebar, and what it is called. The chat has its own name. */
const SCREENS: Record<Screen, { name: string | null; Content: ComponentType }> = {
  chat: { name: null, Content: ChatScreen },
  models: { name: "Models", Content: ModelsScreen },
  benchmarks: { name: "Benchmarks", Content: BenchmarksScreen },
};

/** The window; `run` does what keys and the palette say. */
export function App({ run }: { run: Run }) {
  const sidebar = useStore((state) => state.sidebar);
  const { name, Content } = SCREENS[useStore((state) => state.screen)];
  const title = useStore((state) => name ?? state.about?.title);
  useShortcuts(run);
  useMenuBar();
  useLook();
  useEffect(() => {
    document.title = title ?? "Foretoken";
  }, [title]);
  return (
    <div className={MAC ? "app mac" : "app"}>
      {sidebar && <Sidebar />}
      <div className="stage">
        <Content />
        <Note />
      </div>
      <TagsSheet />
      <Palette run={run} />
      <Shortcuts />
      <LinkAddress />
      <DropTarget />
      <Announcer />
      <JobAnnouncer />
    </div>
  );
}

function ChatScreen() {
  const sidebar = useStore((state) => state.sidebar);
  const inspector = useStore((state) => state.inspector);
  const trouble = useStore((state) => state.trouble);
  const chat = useStore((state) => state.about);
  return (
    <>
      <main className="main">
        <header className="toolbar" data-tauri-drag-region>
          {!sidebar && <SidebarToggle />}
          {chat && (
            <span className="title" data-tauri-drag-region data-testid="title">
              {titleOf(chat)}
            </span>
          )}
          <ModelPicker />
          <span className="spring" data-tauri-drag-region />
          {chat && (
            <MenuButton label="More for this chat" testId="this-chat-more" entries={chatEntries(chat)}>
              <Icon name="more" />
            </MenuButton>
          )}
          {!(inspector && !trouble) && <InspectorToggle />}
        </header>
        {trouble ? (
          <Trouble trouble={trouble} />
        ) : (
          <div className="chat-place">
            <Conversation />
            <EngineBanner />
            <Composer />
          </div>
        )}
      </main>
      {inspector && !trouble && <Inspector />}
    </>
  );
}
