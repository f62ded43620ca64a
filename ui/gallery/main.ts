import "./machine";
import type { Language } from "../src/bridge/bindings";
import { useStore } from "../src/state/store";
import { clock } from "./clock";
import { snapshot } from "./data/snapshot";
import { disguise, undisguised } from "./disguise";
import { drawn } from "./page";
import { type Pane, scriptShell } from "./shell";
import type { State } from "./state";
import { STATES } from "./states";

declare global {
  interface Window {
    /** What can be drawn. */
    gallery: { name: string; window: Pane }[];
    /** Whether the picture that was asked for is there; a sentence where it could not be drawn. */
    ready: boolean | string;
    /** What the page says that is none of its texts, where it speaks in disguise. */
    undisguised: string[];
  }
}

const parameters = new URLSearchParams(location.search);
window.ready = false;
window.undisguised = [];
window.gallery = STATES.map((state) => ({ name: state.name, window: paneOf(state) }));

function paneOf({ quick, alone, settings }: State): Pane {
  if (quick) return "quick";
  if (alone) return "chat";
  return settings === undefined ? "main" : "settings";
}

async function draw(state: State): Promise<void> {
  clock.passed = 1000;
  const inDisguise = parameters.has("disguise");
  if (inDisguise) disguise();
  const language = (parameters.get("language") ?? "en") as Language;
  const answers = { ...snapshot(state), language: () => language, ...state.answers };
  const heard: unknown[] = [];
  const shell = scriptShell(paneOf(state), answers, (said) => heard.push(said));
  if (!state.quick) lights();
  await import("../src/main");
  while (!useStore.getState().opened) await drawn();
  await drawn();
  await state.act?.(shell);
  await document.fonts.ready;
  await drawn();
  if (inDisguise) window.undisguised = undisguised(JSON.stringify(heard));
}

/** The lights of the window, where a Mac draws them. */
function lights(): void {
  const place = document.createElement("div");
  place.className = "system-lights";
  place.ariaHidden = "true";
  for (const colour of ["#ff5f57", "#febc2e", "#28c840"]) {
    const light = document.createElement("i");
    light.style.background = colour;
    place.append(light);
  }
  document.body.append(place);
}

const wanted = parameters.get("state");
const state = STATES.find(({ name }) => name === wanted);
if (state)
  draw(state).then(
    () => {
      window.ready = true;
    },
    (error) => {
      window.ready = String(error);
    },
  );
