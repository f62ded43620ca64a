import { getCurrentWindow } from "@tauri-apps/api/window";
import { type ReactNode, StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { App } from "./frame/App";
import { ALONE_COMMANDS, COMMANDS } from "./frame/commands";
import { keepSystemMenu } from "./frame/contextMenu";
import { reserveInputMethodKeys } from "./frame/inputMethods";
import { start, startAlone } from "./frame/start";
import { speakPreferred } from "./language/load";
import { runner } from "./palette/table";
import { copySelectionWithForm } from "./paper/copying";
import { QuickPanel } from "./quick/QuickPanel";
import { startQuick } from "./quick/start";
import { SettingsWindow } from "./settings/SettingsWindow";
import { startSettings } from "./settings/start";
import "./styles/index.css";

/** What is kept, such as the width of the sidebar, is waited for so many milliseconds, so that nothing jumps. */
const FIRST_SNAPSHOT_TIMEOUT = 300;

const place = document.getElementById("root");
if (!place) throw new Error("The page has no place for the app.");
const root = createRoot(place);
reserveInputMethodKeys();
keepSystemMenu();
copySelectionWithForm();

/** What is shown in a window, and what is waited for before. */
function opened(window: string): [Promise<void>, ReactNode] {
  switch (window) {
    case "settings":
      return [startSettings(), <SettingsWindow key="settings" />];
    case "quick":
      return [startQuick(), <QuickPanel key="quick" />];
    default: {
      const chat = /^chat-(\d+)$/.exec(window)?.[1];
      const run = runner(chat === undefined ? COMMANDS : ALONE_COMMANDS);
      const started = chat === undefined ? start(run) : startAlone(Number(chat), run);
      return [started, <App key="chat" run={run} />];
    }
  }
}

async function show(): Promise<void> {
  // Nothing is said before there is a language to say it in.
  await speakPreferred();
  const [started, content] = opened(getCurrentWindow().label);
  await Promise.race([started, new Promise((resolve) => setTimeout(resolve, FIRST_SNAPSHOT_TIMEOUT))]);
  root.render(<StrictMode>{content}</StrictMode>);
}

show();
