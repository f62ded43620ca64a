// @vitest-environment happy-dom
import { cleanup, render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Exactness, Message, ReplyStats } from "../bridge/bindings";
import { shell } from "../bridge/bridge";
import { modelInfo } from "../models/samples";
import { useStore } from "../state/store";
import { closeInspector, inspectReply, toggleStats } from "./actions";
import { ReplyPage } from "./ReplyPage";
import { replyStats } from "./samples";
import { inspected } from "./view";

const initial = useStore.getInitialState();
const message = (id: number, role: Message["role"], stats: ReplyStats | null = null): Message => ({
  id,
  parent: id === 1 ? null : id - 1,
  role,
  text: "Why?",
  pictures: [],
  thinking: "",
  steps: [],
  edited: false,
  model: "owl",
  status: { state: "finished", reason: "stop" },
  stats,
  error: null,
  created_at: 0,
});
const replies = [
  message(1, "user"),
  message(2, "assistant", replyStats()),
  message(3, "user"),
  message(4, "assistant", replyStats()),
];

beforeEach(() => {
  const engine = { state: "ready", model: modelInfo("/owl"), device: "gpu", in_memory: true } as const;
  const settings = { ...initial.settings, drafting: { mode: "fixed", depth: 1 } } as const;
  useStore.setState({ ...initial, opened: true, chat: 5, messages: replies, engine, settings }, true);
  vi.spyOn(shell, "setSettings").mockResolvedValue(null);
});
afterEach(() => {
  cleanup();
  vi.restoreAllMocks();
});

const shown = () => inspected(useStore.getState())?.id ?? null;

describe("the panel", () => {
  it("opens on the reply whose line is clicked, goes to another, and closes with a second click", () => {
    inspectReply(2);
    expect(shown()).toBe(2);
    inspectReply(4);
    expect(shown()).toBe(4);
    inspectReply(4);
    expect(shown()).toBeNull();
  });

  it("opens by its key on the last reply, and tells of no reply that is written again", () => {
    toggleStats();
    expect(shown()).toBe(4);
    closeInspector();
    inspectReply(2);
    useStore.setState({ messages: [message(1, "user"), message(2, "assistant")] });
    expect(shown()).toBeNull();
  });
});

describe("what can be done about a reply", () => {
  const open = (more: Partial<ReplyStats>) => {
    render(<ReplyPage message={message(2, "assistant", replyStats(more))} question={message(1, "user")} />);
    return userEvent.setup();
  };
  const plain = (tokens_per_second: number) =>
    ({ tokens_per_second, source: "replies", measured_at: 0 }) as const;

  it("is to let Auto choose where guessing cost time", async () => {
    const user = open({ plain: plain(90) });
    await user.click(screen.getByTestId("use-auto"));
    expect(shell.setSettings).toHaveBeenCalledWith({ drafting: { mode: "auto" } });
  });

  it("is to answer the same question without guesses where the gain is not known", async () => {
    const compare = vi.spyOn(shell, "compare").mockResolvedValue(null);
    const user = open({});
    await user.click(screen.getByTestId("measure-gain"));
    expect(compare).toHaveBeenCalledWith({ source: "message", message: 1 }, expect.any(Function));
    expect(useStore.getState().screen).toBe("benchmarks");
  });

  it("is to write it again, with the same words where that is promised", () => {
    const { preferences } = useStore.getState();
    useStore.setState({
      preferences: { ...preferences, open_folds: { ...preferences.open_folds, settings: true } },
    });
    const again = (exact: Exactness) => {
      open({ exact });
      const told = screen.getByText("With this seed again").nextSibling?.textContent;
      cleanup();
      return told;
    };
    expect(again("bitwise")).toBe("the same words, where the prompt is read alike");
    expect(again("distribution")).toBe("words as likely, perhaps others");
  });

  it("is nothing where guessing paid", () => {
    open({ plain: plain(30) });
    expect(screen.queryByTestId("use-auto")).toBeNull();
    expect(screen.queryByTestId("measure-gain")).toBeNull();
  });
});
