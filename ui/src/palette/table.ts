import { openBenchmarks } from "../benchmarks/actions";
import {
  ACTIONS,
  type Action,
  type ActionId,
  type Availability,
  type ChatSummary,
  type MenuState,
} from "../bridge/bindings";
import { shell } from "../bridge/bridge";
import { editLast, showError, stop, toggleNumbers, toggleRevealDrafts } from "../chat/actions";
import { focusComposer } from "../chat/focus";
import { newChat, openChat } from "../chat/navigation";
import { chooseImport, exportChats } from "../chatList/files";
import { openModels } from "../models/actions";
import { changeZoom, openDiagnostics, openSettings } from "../settings/actions";
import { streamingReply } from "../state/state";
import { setView, useStore } from "../state/store";

const state = () => useStore.getState();

/** Everything that can be done from anywhere in the window. */
export const TABLE: readonly Action[] = ACTIONS;

const RUN: Record<ActionId, () => unknown> = {
  new_chat: () => newChat(),
  find_chats: () => focusSearch(),
  palette: () => setView({ palette: !state().palette, shortcuts: false }),
  focus_composer: () => {
    // In the chat that opens, the field takes the focus by itself.
    setView({ screen: "chat" });
    focusComposer();
  },
  edit_last: () => editLast(),
  stop: () => stop(),
  statistics: () => toggleNumbers(),
  reveal_drafts: () => toggleRevealDrafts(),
  next_chat: () => goToChat(1),
  previous_chat: () => goToChat(-1),
  export_chat: () => exportChats(state().chat, "markdown"),
  export_chats: () => exportChats(null, "json"),
  import_chats: () => chooseImport(),
  toggle_sidebar: () => setView({ sidebar: !state().sidebar }),
  toggle_inspector: () =>
    setView({ screen: "chat", inspector: state().screen !== "chat" || !state().inspector }),
  zoom_in: () => changeZoom(1),
  zoom_out: () => changeZoom(-1),
  actual_size: () => changeZoom(0),
  models: () => openModels(),
  benchmarks: () => openBenchmarks(),
  settings: () => openSettings(),
  shortcuts: () => setView({ shortcuts: !state().shortcuts, palette: false }),
  diagnostics: () => openDiagnostics(),
  close_window: () => shell.closeWindow().catch(showError),
  quit: () => shell.quit().catch(showError),
};

type State = ReturnType<typeof state>;

const AVAILABLE: Record<Availability, (state: State) => boolean> = {
  always: () => true,
  in_chat: ({ chat }) => chat !== null,
  while_writing: (state) => state.screen === "chat" && streamingReply(state) !== null,
  with_question: (state) =>
    state.screen === "chat" &&
    streamingReply(state) === null &&
    state.messages.some(({ role }) => role === "user"),
  with_statistics: ({ screen, messages }) =>
    screen === "chat" && messages.some(({ stats }) => stats !== null),
  with_next_chat: (state) => chatFromHere(state, 1) !== undefined,
  with_previous_chat: (state) => chatFromHere(state, -1) !== undefined,
};

/** Whether what an action would show or hide is shown. */
const SHOWN: Partial<Record<ActionId, (state: State) => boolean>> = {
  reveal_drafts: ({ revealDrafts }) => revealDrafts,
  toggle_sidebar: ({ sidebar }) => sidebar,
  toggle_inspector: ({ screen, inspector }) => screen === "chat" && inspector,
};

export const isAvailable = (action: Action, now: State = state()): boolean =>
  AVAILABLE[action.available](now);

const isShown = (action: Action, now: State): boolean => SHOWN[action.id]?.(now) ?? false;

/** The actions that show and hide something, by the name of what they would do. */
const SHOWING = TABLE.map((action) => ({ ...action, name: action.toggle?.show ?? action.name }));
const HIDING = TABLE.map((action) => ({ ...action, name: action.toggle?.hide ?? action.name }));

/** What can be done now, by the name that it has now. The same actions as long as nothing changes. */
export const actionsNow = (now: State): Action[] =>
  TABLE.flatMap((action, index) => {
    const named = (isShown(action, now) ? HIDING : SHOWING)[index];
    return named && isAvailable(action, now) ? [named] : [];
  });

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

/** Does what an action says, if it can be done now; says whether it was. */
export function run(id: ActionId): boolean {
  const action = TABLE.find((action) => action.id === id);
  if (!action || !isAvailable(action)) return false;
  if (!OVER_SHEETS.has(id) && isSheetOpen()) return false;
  RUN[id]();
  return true;
}

function focusSearch(): void {
  setView({ sidebar: true });
  // The field is there once the sidebar is.
  requestAnimationFrame(() =>
    document.querySelector<HTMLInputElement>("[data-testid=chat-search]")?.select(),
  );
}

/** The chat so many rows further down the list. A chat that is not listed stands before all of them. */
const chatFromHere = ({ chats, chat }: State, rows: number): ChatSummary | undefined =>
  chats[chats.findIndex(({ id }) => id === chat) + rows];

function goToChat(rows: number): void {
  const next = chatFromHere(state(), rows);
  if (next) openChat(next.id);
}
