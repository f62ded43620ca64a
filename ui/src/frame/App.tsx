import { type ComponentType, useEffect } from "react";
import { ReadingBar } from "../aloud/ReadingBar";
import { BenchmarksScreen } from "../benchmarks/BenchmarksScreen";
import { shell } from "../bridge/bridge";
import { Composer } from "../chat/Composer";
import { Conversation } from "../chat/Conversation";
import { Inspector, InspectorToggle } from "../chat/Inspector";
import { ServerQuestions } from "../chat/ServerQuestion";
import { VersionsScreen } from "../chat/VersionsScreen";
import { RenameField, titleOf } from "../chatList/ChatRow";
import { chatEntries } from "../chatList/chatMenu";
import { DragGhost } from "../chatList/DragGhost";
import { ExportSheet } from "../chatList/ExportSheet";
import { TagsSheet } from "../chatList/TagsSheet";
import { Trouble } from "../chatList/Trouble";
import { t } from "../language/text";
import { LinkAddress } from "../markdown/Link";
import { JobAnnouncer } from "../models/JobAnnouncer";
import { ModelPicker } from "../models/ModelPicker";
import { ModelsScreen } from "../models/ModelsScreen";
import { PromptCard } from "../offers/PromptCard";
import { ResourceSheet } from "../offers/ResourceSheet";
import { Palette } from "../palette/Palette";
import { Shortcuts } from "../palette/Shortcuts";
import type { Run } from "../palette/table";
import { useMenuBar } from "../palette/useMenuBar";
import { Icon } from "../primitives/icons";
import { MenuButton } from "../primitives/MenuButton";
import { MAC } from "../primitives/platform";
import { addFiles, openProject as goToProject } from "../projects/actions";
import { ProjectSheets } from "../projects/ProjectSheets";
import { projectEntries } from "../projects/projectMenu";
import { openProject } from "../state/server";
import { setView, useStore } from "../state/store";
import { UpdateSheet } from "../updates/UpdateSheet";
import { Announcer } from "./Announcer";
import { DropTarget } from "./DropTarget";
import { closeDrawer } from "./drawer";
import { EngineBanner } from "./EngineBanner";
import { ErrorNote } from "./ErrorNote";
import { showError } from "./errors";
import { Note } from "./Note";
import { Sidebar } from "./Sidebar";
import { TitleStart } from "./TitleStart";
import { useLook } from "./useLook";
import { useNarrow } from "./useNarrow";
import { useShortcuts } from "./useShortcuts";
import { type Screen, sidebarShown } from "./view";

/** What fills the window beside the sidebar. */
const SCREENS: Record<Screen, ComponentType> = {
  chat: ChatScreen,
  versions: VersionsScreen,
  models: ModelsScreen,
  benchmarks: BenchmarksScreen,
};

/** What a screen is called; null for what has the name of the chat. */
function nameOf(screen: Screen): string | null {
  if (screen === "models") return t("action-models");
  return screen === "benchmarks" ? t("action-benchmarks") : null;
}

/** The window; `run` does what keys and the palette say. */
export function App({ run }: { run: Run }) {
  const sidebar = useStore(sidebarShown);
  const over = useStore((state) => state.narrow && state.drawer);
  const alone = useStore((state) => state.alone !== null);
  const screen = useScreen();
  const Content = SCREENS[screen];
  const title = useStore((state) => nameOf(screen) ?? state.about?.title ?? openProject(state)?.name);
  useShortcuts(run);
  useMenuBar();
  useLook();
  useNarrow();
  useEffect(() => {
    document.title = title ?? "Foretoken";
  }, [title]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: whoever goes to another screen wants to see it
  useEffect(closeDrawer, [screen]);
  return (
    <div className={useFrameClass()} data-testid={alone ? "chat-window" : "main-window"}>
      {sidebar && <Sidebar />}
      {over && <BesideDrawer />}
      <div className="stage">
        <Content />
        <Note />
      </div>
      <TagsSheet />
      <ProjectSheets />
      <ExportSheet />
      <ResourceSheet />
      {!alone && <UpdateSheet />}
      <Palette run={run} />
      <Shortcuts />
      <LinkAddress />
      <DropTarget />
      {!alone && <DragGhost />}
      <Announcer />
      {!alone && <JobAnnouncer />}
    </div>
  );
}

/** What is shown. A window for one chat alone leads to all other screens in the main window. */
function useScreen(): Screen {
  const screen = useStore((state) => state.screen);
  const alone = useStore((state) => state.alone !== null);
  const elsewhere = alone && (screen === "models" || screen === "benchmarks") ? screen : null;
  useEffect(() => {
    if (elsewhere === null) return;
    setView({ screen: "chat" });
    shell.act(elsewhere).catch(showError);
  }, [elsewhere]);
  return elsewhere === null ? screen : "chat";
}

/** The page beside the sidebar that lies over it: a click there puts the sidebar away and does nothing else. */
function BesideDrawer() {
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: Escape does the same
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape does the same
    <div
      className="beside-drawer"
      data-testid="beside-drawer"
      // The focus goes back to where it was.
      onMouseDown={(event) => event.preventDefault()}
      onClick={closeDrawer}
    />
  );
}

/** What the style sheet has to know of the window: whether a Mac's lights lie over it, and how wide it is. */
function useFrameClass(): string {
  const narrow = useStore((state) => state.narrow);
  const fullScreen = useStore((state) => state.surroundings.full_screen);
  return ["app", MAC && !fullScreen && "lights", narrow && "narrow"].filter(Boolean).join(" ");
}

function ChatScreen() {
  const inspector = useStore((state) => state.inspector);
  const trouble = useStore((state) => state.trouble);
  const chat = useStore((state) => state.about);
  const project = useStore(openProject);
  // A window for one chat has no other page.
  const alone = useStore((state) => state.alone !== null);
  // Nor is another chat begun in it.
  const nowhere = alone && chat === null;
  // It has no list in which a chat could be given another name.
  const renaming = useStore((state) => alone && state.renaming !== null && state.renaming === state.chat);
  return (
    <>
      <main className="main">
        <header className="toolbar" data-tauri-drag-region>
          <TitleStart />
          {project && chat && !alone && (
            <button
              type="button"
              className="quiet-button title-project"
              title={t("frame-to-project", { name: project.name })}
              data-testid="to-project"
              onClick={() => goToProject(project.id)}
            >
              <Icon name="folder" />
              <span className="chip-words">{project.name}</span>
            </button>
          )}
          {project && !chat && (
            <span className="title" data-tauri-drag-region data-testid="project-title">
              {project.name}
            </span>
          )}
          {chat && renaming && <RenameField chat={chat} />}
          {chat && !renaming && (
            <span className="title" data-tauri-drag-region data-testid="title">
              {titleOf(chat)}
            </span>
          )}
          <ModelPicker />
          <span className="spring" data-tauri-drag-region />
          {chat && (
            <MenuButton label={t("frame-more-for-chat")} testId="this-chat-more" entries={chatEntries(chat)}>
              <Icon name="more" />
            </MenuButton>
          )}
          {project && !chat && (
            <>
              <button
                type="button"
                className="button add-files"
                data-testid="project-add-files"
                onClick={() => addFiles(project.id)}
              >
                <Icon name="plus" />
                <span>{t("frame-add-files")}</span>
              </button>
              <MenuButton
                label={t("frame-more-for-project")}
                testId="this-project-more"
                entries={projectEntries(project)}
              >
                <Icon name="more" />
              </MenuButton>
            </>
          )}
          {!(inspector && !trouble) && <InspectorToggle />}
        </header>
        {trouble ? (
          <Trouble trouble={trouble} />
        ) : nowhere ? (
          <NotOpened />
        ) : (
          <div className="chat-place">
            <Conversation />
            <EngineBanner />
            <ReadingBar />
            <ServerQuestions />
            <PromptCard />
            <Composer />
          </div>
        )}
      </main>
      {inspector && !trouble && <Inspector />}
    </>
  );
}

/** A window for a chat that is not there: why it could not be opened, once that is known. */
function NotOpened() {
  const error = useStore((state) => state.actionError);
  return <div className="chat-place">{error && <ErrorNote error={error} testId="not-opened" />}</div>;
}
