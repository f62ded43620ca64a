import { getCurrentWindow } from "@tauri-apps/api/window";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { App } from "./frame/App";
import { COMMANDS } from "./frame/commands";
import { keepSystemMenu } from "./frame/contextMenu";
import { reserveInputMethodKeys } from "./frame/inputMethods";
import { start } from "./frame/start";
import { runner } from "./palette/table";
import { copySelectionWithForm } from "./paper/copying";
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
const run = runner(COMMANDS);
const [started, content] =
  getCurrentWindow().label === "settings"
    ? [startSettings(), <SettingsWindow key="settings" />]
    : [start(run), <App key="main" run={run} />];
Promise.race([started, new Promise((resolve) => setTimeout(resolve, FIRST_SNAPSHOT_TIMEOUT))]).then(() =>
  root.render(<StrictMode>{content}</StrictMode>),
);
