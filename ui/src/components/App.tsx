import { useEffect } from "react";
import { LinkAddress } from "../markdown/Link";
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
  const title = useStore((state) => state.chats.find((chat) => chat.id === state.chat)?.title);
  useShortcuts();
  useEffect(() => {
    document.title = title ?? "Foretoken";
  }, [title]);
  return (
    <div className="app">
      {sidebar && <Sidebar />}
      <main className="main">
        <header className="toolbar" data-tauri-drag-region>
          {!sidebar && <SidebarToggle />}
          <ModelPicker />
        </header>
        <Conversation />
        <EngineBanner />
        <Composer />
      </main>
      <LinkAddress />
      <Announcer />
    </div>
  );
}
