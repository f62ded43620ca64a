import { ACTIONS, type Action, type ActionId, type Availability, type MenuState } from "../bridge/bindings";
import { repliesWithVersions } from "../chat/severalVersions";
import { isTemporary } from "../chat/view";
import { sidebarShown } from "../frame/view";
import { t } from "../language/text";
import { chatFromHere, streamingReply } from "../state/server";
import { type State, useStore } from "../state/store";
import { formatKeys, keysOf } from "./keys";

const state = () => useStore.getState();

/** Everything that can be done from anywhere in the window. */
export const TABLE: readonly Action[] = ACTIONS;

/** The keys of an action as people write them; null where it has none. */
export function keysLabel(id: ActionId): string | null {
  const action = TABLE.find((action) => action.id === id);
  const keys = action ? keysOf(action) : null;
  return keys && formatKeys(keys);
}

/** What each action does: the features hand it over, so that none of them is known here. */
export type Commands = Record<ActionId, () => unknown>;

/** Does what an action says, if it can be done now; says whether it was. */
export type Run = (id: ActionId) => boolean;

const AVAILABLE: Record<Availability, (state: State) => boolean> = {
  always: () => true,
  in_chat: ({ chat }) => chat !== null,
  while_finding: ({ screen, find, chat }) => screen === "chat" && find !== null && find.chat === chat,
  while_writing: (state) =>
    (state.screen === "chat" || state.screen === "versions") && streamingReply(state) !== null,
  with_question: (state) =>
    state.screen === "chat" &&
    streamingReply(state) === null &&
    state.messages.some(({ role }) => role === "user"),
  with_statistics: ({ screen, messages }) =>
    screen === "chat" && messages.some(({ stats }) => stats !== null),
  with_versions: (state) => state.screen === "chat" && repliesWithVersions(state).length > 0,
  with_voice: ({ screen, hasVoice, messages, reading }) =>
    reading !== null ||
    (screen === "chat" && hasVoice && messages.some(({ role, text }) => role === "assistant" && text !== "")),
  with_next_chat: (state) => state.alone === null && chatFromHere(state, 1) !== undefined,
  with_previous_chat: (state) => state.alone === null && chatFromHere(state, -1) !== undefined,
  with_model_in_memory: ({ engine }) => engine.state === "ready" && engine.in_memory,
  with_updates: ({ updates }) => updates.state !== "off",
};

/** Whether what an action would show or hide is shown. */
const SHOWN: Partial<Record<ActionId, (state: State) => boolean>> = {
  reveal_drafts: ({ revealDrafts }) => revealDrafts,
  read_aloud: ({ reading }) => reading !== null,
  toggle_sidebar: sidebarShown,
  toggle_inspector: ({ screen, inspector }) => screen === "chat" && inspector,
};

export const isAvailable = (action: Action, now: State = state()): boolean =>
  // A window that shows one chat alone has no sidebar, and a temporary chat has no window of its own.
  !(action.id === "toggle_sidebar" && now.alone !== null) &&
  !(action.id === "open_window" && isTemporary(now.chat)) &&
  AVAILABLE[action.available](now);

const isShown = (action: Action, now: State): boolean => SHOWN[action.id]?.(now) ?? false;

/** An action, and what it would do where it shows and hides something. */
export interface ActionNow extends Action {
  does: "show" | "hide" | null;
}

const SHOWING = TABLE.map((action): ActionNow => ({ ...action, does: action.toggles ? "show" : null }));
const HIDING = TABLE.map((action): ActionNow => ({ ...action, does: action.toggles ? "hide" : null }));

/** What can be done now. The same actions as long as nothing changes. */
export const actionsNow = (now: State): ActionNow[] =>
  TABLE.flatMap((action, index) => {
    const offered = (isShown(action, now) ? HIDING : SHOWING)[index];
    return offered && isAvailable(action, now) ? [offered] : [];
  });

/** What an action is called, by what it would do where that is known. */
export function actionName({ id, does = null }: Pick<Action, "id"> & Partial<ActionNow>): string {
  const code = id.replaceAll("_", "-");
  if (does === null) return t(`action-${code}`);
  return does === "show" ? t(`action-${code}.show`) : t(`action-${code}.hide`);
}

/** What the menu bar has to know. */
export const menuState = (now: State): MenuState => ({
  available: actionsNow(now).map(({ id }) => id),
  shown: TABLE.filter((action) => isShown(action, now)).map(({ id }) => id),
});

/** What can be done while a sheet is open: it changes nothing behind the sheet. */
const OVER_SHEETS: ReadonlySet<ActionId> = new Set<ActionId>([
  "palette",
  "shortcuts",
  "zoom_in",
  "zoom_out",
  "actual_size",
  "close_window",
  "quit",
]);

/** Whether a sheet is open. One that is closing is still there, but no longer in the way of what was chosen in it. */
const isSheetOpen = (): boolean => document.querySelector(".sheet[data-open]") !== null;

/** What does actions by what is handed over for each. */
export const runner =
  (commands: Commands): Run =>
  (id) => {
    const action = TABLE.find((action) => action.id === id);
    if (!action || !isAvailable(action)) return false;
    if (!OVER_SHEETS.has(id) && isSheetOpen()) return false;
    commands[id]();
    return true;
  };
