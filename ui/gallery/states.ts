import type { State } from "./state";
import { BENCHMARKS } from "./states/benchmarks";
import { CHAT } from "./states/chat";
import { CHAT_TOOLS } from "./states/chatTools";
import { MODELS } from "./states/models";
import { PROJECTS } from "./states/projects";
import { QUICK } from "./states/quick";
import { SETTINGS } from "./states/settings";

/** Every screen and state of the app, in the order of their pictures. */
export const STATES: State[] = [
  ...CHAT,
  ...CHAT_TOOLS,
  ...PROJECTS,
  ...MODELS,
  ...BENCHMARKS,
  ...SETTINGS,
  ...QUICK,
];
