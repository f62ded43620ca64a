import "./machine";
import { useStore } from "../src/state/store";
import { clock } from "./clock";
import { snapshot } from "./data/snapshot";
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
  }
}

window.ready = false;
window.gallery = STATES.map((state) => ({ name: state.name, window: paneOf(state) }));

function paneOf({ quick, alone, settings }: State): Pane {
  if (quick) return "quick";
  if (alone) return "chat";
  return settings === undefined ? "main" : "settings";
}

async function draw(state: State): Promise<void> {
  clock.passed = 1000;
  const shell = scriptShell(paneOf(state), {
    ...snapshot(state),
    ...state.answers,
  });
  if (!state.quick) lights();
  await import("../src/main");
  while (!useStore.getState().opened) await drawn();
  await drawn();
  await state.act?.(shell);
  await document.fonts.ready;
  await drawn();
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

const wanted = new URLSearchParams(location.search).get("state");
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
