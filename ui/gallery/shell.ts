import { mockIPC, mockWindows } from "@tauri-apps/api/mocks";
import { type AppEvent, commands, type ErrorReport } from "../src/bridge/bindings";

type Commands = typeof commands;
type Answer<C extends keyof Commands> = Extract<Awaited<ReturnType<Commands[C]>>, { status: "ok" }>["data"];

/** What the shell answers, by command. */
export type Answers = {
  [C in keyof Commands]?: (...parameters: Parameters<Commands[C]>) => Answer<C> | Promise<Answer<C>>;
};

/** The shell refuses. */
export class Refusal {
  constructor(readonly report: ErrorReport) {}
}

/** Never answers. */
export const silence = (): Promise<never> => new Promise(() => {});

/** The windows of the app. */
export type Pane = "main" | "settings" | "quick" | "chat";

/**
 * Lets the page of a window speak with a shell that answers this, and with `null` to all else. Returns its events.
 * `onSaid` hears all that the shell says.
 */
export function scriptShell(
  window: Pane,
  answers: Answers,
  onSaid: (said: unknown) => void = () => {},
): { tell(event: AppEvent): void } {
  mockWindows(window === "chat" ? "chat-3" : window);
  mockIPC(() => null);
  let tell = (_: AppEvent): void => {};
  const all: Answers = {
    subscribe: (events) => {
      tell = (event) => {
        onSaid(event);
        events.onmessage(event);
      };
      return null;
    },
    ...answers,
  };
  for (const [name, answer] of Object.entries(all) as [keyof Commands, (...given: unknown[]) => unknown][])
    Object.assign(commands, {
      [name]: async (...given: unknown[]) => {
        try {
          const data = await answer(...given);
          onSaid(data);
          return { status: "ok", data };
        } catch (error) {
          onSaid(error);
          if (error instanceof Refusal) return { status: "error", error: error.report };
          throw error;
        }
      },
    });
  return { tell: (event) => tell(event) };
}
