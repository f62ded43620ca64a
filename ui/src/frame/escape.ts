import { stopReading } from "../aloud/actions";
import { closeInspector } from "../chat/actions";
import { searchChats } from "../chatList/actions";
import { cancelDrag } from "../chatList/dragging";
import { closeFind, openFind } from "../find/actions";
import { type State, setView, useStore } from "../state/store";
import { closeDrawer } from "./drawer";
import { sidebarShown } from "./view";

/** Something that Escape puts away. */
interface Closable {
  /** Whether it is there while `focused` has the focus. */
  isOpen: (state: State, focused: Element) => boolean;
  /** Puts it away; null where it hears the key by itself. */
  close: (() => void) | null;
}

/** Whether something lies over the page that is answered or closed before anything else. */
export const isCovered = (): boolean => document.querySelector(".popover, .sheet, .large-picture") !== null;

/** A change, a search, a question or the panel, which hears the key while the focus is in it. */
const HEARS_ESCAPE = "[data-escape]";

/** What Escape puts away, the nearest first: one thing for each press. Where nothing is left it stops the reply. */
const CLOSABLE: readonly Closable[] = [
  // A chat in the hand.
  { isOpen: ({ dragged }) => dragged !== null, close: cancelDrag },
  // Popovers, menus and sheets.
  { isOpen: isCovered, close: null },
  { isOpen: (_, focused) => focused.closest(HEARS_ESCAPE) !== null, close: null },
  // The sidebar over the page.
  { isOpen: ({ narrow, drawer }) => narrow && drawer, close: closeDrawer },
  // Another screen.
  { isOpen: ({ screen }) => screen !== "chat", close: () => setView({ screen: "chat" }) },
  // Matches in the chat.
  { isOpen: (state) => openFind(state) !== null, close: closeFind },
  // What is read aloud.
  { isOpen: ({ reading }) => reading !== null, close: stopReading },
  // The search of all chats.
  { isOpen: (state) => state.query !== "" && sidebarShown(state), close: leaveSearch },
  // The panel.
  { isOpen: ({ inspector }) => inspector, close: closeInspector },
];

/** Puts away the nearest thing for an Escape at `focused`, and says what came of that. */
export function closeNearest(focused: Element): "closed" | "left-to-it" | "nothing-open" {
  const state = useStore.getState();
  const nearest = CLOSABLE.find(({ isOpen }) => isOpen(state, focused));
  if (!nearest) return "nothing-open";
  nearest.close?.();
  return nearest.close === null ? "left-to-it" : "closed";
}

/** Whoever was among what was found goes on in the field. */
function leaveSearch(): void {
  const within = document.activeElement?.closest(".sidebar") != null;
  searchChats("");
  if (within) document.querySelector<HTMLElement>("[data-testid=chat-search]")?.focus();
}
