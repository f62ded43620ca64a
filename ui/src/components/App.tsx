import { useEffect } from "react";
import { DropTarget } from "../library/DropTarget";
import { JobAnnouncer } from "../library/JobAnnouncer";
import { ModelsScreen } from "../library/ModelsScreen";
import { LinkAddress } from "../markdown/Link";
import { MAC } from "../platform";
import { useStore } from "../store";
import { useShortcuts } from "../useShortcuts";
import { Announcer } from "./Announcer";
import { Composer } from "./Composer";
import { Conversation } from "./Conversation";
import { EngineBanner } from "./EngineBanner";
import { ModelPicker } from "./ModelPicker";
import { Sidebar, SidebarToggle } from "./Sidebar";

/** The window. */
export function App() {
  const sidebar = useStore((state) => state.sidebar);
  const screen = useStore((state) => state.screen);
  const title = useStore((state) =>
    state.screen === "models" ? "Models" : state.chats.find((chat) => chat.id === state.chat)?.title,
  );
  useShortcuts();
  useEffect(() => {
    document.title = title ?? "Foretoken";
  }, [title]);
  return (
    <div className={MAC ? "app mac" : "app"}>
      {sidebar && <Sidebar />}
      {screen === "models" ? <ModelsScreen /> : <ChatScreen />}
      <LinkAddress />
      <DropTarget />
      <Announcer />
      <JobAnnouncer />
    </div>
  );
}

function ChatScreen() {
  const sidebar = useStore((state) => state.sidebar);
  return (
    <main className="main">
      <header className="toolbar" data-tauri-drag-region>
        {!sidebar && <SidebarToggle />}
        <ModelPicker />
      </header>
      <Conversation />
      <EngineBanner />
      <Composer />
    </main>
  );
}
