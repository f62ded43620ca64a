import { DEFAULT_PREFERENCES } from "../../src/bridge/bindings";
import { question, reply, SOURDOUGH, STARTER_QUESTION, STARTER_REPLY } from "../data/chats";
import { find, type } from "../page";
import type { State } from "../state";

/** Asks, and waits for the reply. */
async function ask(): Promise<void> {
  await type("quick-field", STARTER_QUESTION);
  const enter = new KeyboardEvent("keydown", { key: "Enter", bubbles: true, cancelable: true });
  (await find("[data-testid=quick-field]")).dispatchEvent(enter);
  await find("[data-testid=quick-reply]");
}

export const QUICK: State[] = [
  { name: "quick", quick: true },
  {
    name: "quick-answered",
    quick: true,
    snapshot: { preferences: { ...DEFAULT_PREFERENCES, open_projects: [], quick_key: "alt_space" } },
    answers: {
      sendMessage: () => ({
        chat: SOURDOUGH.id,
        messages: [question(1, null, STARTER_QUESTION), reply(2, 1, STARTER_REPLY)],
      }),
    },
    act: ask,
  },
];
