// @vitest-environment happy-dom
import { act, cleanup, render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Preset } from "../bridge/bindings";
import { shell } from "../bridge/bridge";
import { Note } from "../frame/Note";
import { modelInfo } from "../models/samples";
import { DEFAULT_CHAT_SETTINGS } from "../state/server";
import { dispatch, useStore } from "../state/store";
import { RepliesControl } from "./RepliesControl";
import { repliesLabel } from "./repliesLabel";

const initial = useStore.getInitialState();
const OWL: Preset = { id: 3, name: "Owl", system_prompt: "You are an owl.", generation: initial.settings };

/** The presets as the shell has them. */
let presets: Preset[] = [];

beforeEach(() => {
  presets = [OWL];
  const chatSettings = {
    ...DEFAULT_CHAT_SETTINGS,
    system_prompt: OWL.system_prompt,
    generation: OWL.generation,
    preset: 3,
  };
  useStore.setState({ ...initial, opened: true, repliesOpen: true, chat: 5, presets, chatSettings }, true);
  vi.spyOn(shell, "setChatSettings").mockResolvedValue(null);
  vi.spyOn(shell, "changePreset").mockImplementation(async (changed) => {
    presets = presets.map((preset) => (preset.id === changed.id ? changed : preset));
    act(() => dispatch({ kind: "app", event: { type: "presets", presets, deleted: [] } }));
    return null;
  });
});
afterEach(() => {
  cleanup();
  vi.restoreAllMocks();
});

function open() {
  const user = userEvent.setup();
  render(
    <>
      <RepliesControl />
      <Note />
    </>,
  );
  return user;
}

describe("a preset that was updated from a chat", () => {
  it("gets back what it held with Undo, and the chat keeps what it was changed to", async () => {
    const user = open();
    await user.type(screen.getByTestId("system-prompt"), " Hoo.");
    await user.click(screen.getByTestId("update-preset"));
    expect(presets).toEqual([{ ...OWL, system_prompt: "You are an owl. Hoo." }]);
    expect((await screen.findByTestId("note")).textContent).toContain("“Owl” was updated.");

    await user.click(screen.getByTestId("undo"));
    expect(presets).toEqual([OWL]);
    await vi.waitFor(() => expect(screen.queryByTestId("note")).toBe(null));
    expect(useStore.getState().chatSettings.system_prompt).toBe("You are an owl. Hoo.");
  });

  it("is deleted only when the shell has taken the update over", async () => {
    let taken = () => {};
    vi.spyOn(shell, "changePreset").mockReturnValue(new Promise((resolve) => (taken = () => resolve(null))));
    const deletePreset = vi.spyOn(shell, "deletePreset").mockResolvedValue(null);
    const user = open();
    await user.click(screen.getByTestId("update-preset"));
    await user.click(screen.getByTestId("delete-preset"));
    expect(deletePreset).not.toHaveBeenCalled();
    taken();
    await vi.waitFor(() => expect(deletePreset).toHaveBeenCalledWith(3));
  });
});

describe("how much the model may think", () => {
  const ready = (more: Parameters<typeof modelInfo>[1]) =>
    useStore.setState({
      engine: { state: "ready", model: modelInfo("/owl", more), device: "cpu", in_memory: true },
    });
  const chosen = () => useStore.getState().chatSettings.generation?.thinking;
  const note = () => screen.getByTestId("thinking-control").nextElementSibling?.textContent;

  it("is chosen for the chat, by keys too", async () => {
    ready({});
    const user = open();
    expect(screen.getByTestId("thinking-control-normal").getAttribute("aria-checked")).toBe("true");
    await user.click(screen.getByTestId("thinking-control-brief"));
    expect(chosen()).toEqual({ mode: "brief" });
    expect(note()).toContain("after 1,024 tokens");
    await user.keyboard("{ArrowLeft}");
    expect(chosen()).toEqual({ mode: "off" });
    expect(document.activeElement).toBe(screen.getByTestId("thinking-control-off"));
  });

  it("may be a number of tokens", async () => {
    ready({});
    const user = open();
    await user.click(screen.getByTestId("thinking-control-tokens"));
    const field = screen.getByTestId("thinking-control-limit");
    await user.clear(field);
    await user.type(field, "300");
    expect(chosen()).toEqual({ mode: "tokens", tokens: 300 });
  });

  it("is more than usual only for models that can be asked for it", async () => {
    ready({});
    const user = open();
    const long = () => screen.getByTestId("thinking-control-long");
    await user.click(long());
    expect(chosen()).toEqual({ mode: "normal" });
    expect(long().title).toContain("cannot be asked for more");
    act(() => ready({ thinking_effort: true }));
    await user.click(long());
    expect(chosen()).toEqual({ mode: "long" });
    expect(note()).toBe("It is asked to think much.");
  });

  it("can be cut short where a model always thinks, and neither be off nor be more", async () => {
    ready({ thinking: false, opens_thinking: true });
    const user = open();
    const control = (mode: string) => screen.getByTestId(`thinking-control-${mode}`);
    await user.click(control("off"));
    await user.click(control("long"));
    expect(chosen()).toEqual({ mode: "normal" });
    expect(control("off").title).toContain("it always thinks");
    expect(control("long").title).toContain("cannot be asked for more");
    await user.click(control("brief"));
    expect(chosen()).toEqual({ mode: "brief" });
    expect(note()).toContain("after 1,024 tokens");
    await user.click(control("tokens"));
    expect(chosen()).toMatchObject({ mode: "tokens" });
  });

  it("cannot be chosen for a model without a switch", async () => {
    ready({ thinking: false });
    const user = open();
    await user.click(screen.getByTestId("thinking-control-off"));
    expect(chosen()).toEqual({ mode: "normal" });
    expect(note()).toContain("no thinking switch");
  });
});

describe("the name of how replies are written", () => {
  const { settings } = initial;
  const label = (
    generation: Partial<typeof settings>,
    chat: Partial<typeof DEFAULT_CHAT_SETTINGS> = {},
    defaults = settings.sampling,
  ) => repliesLabel({ ...settings, ...generation }, { ...DEFAULT_CHAT_SETTINGS, ...chat }, [OWL], defaults);

  it("is Standard where the model writes as it was made to, and else what differs", () => {
    const warm = { ...settings.sampling, temperature: 0.7 };
    expect(label({})).toBe("Standard");
    expect(label({ sampling: { ...settings.sampling, seed: 7, top_k: 3 } })).toBe("Standard");
    expect(label({}, {}, warm)).toBe("Greedy");
    expect(label({ sampling: warm })).toBe("Sampled");
    const thinking = { mode: "off" } as const;
    expect(label({ thinking })).toBe("No thinking");
    expect(label({ thinking: { mode: "tokens", tokens: 4096 } })).toBe("Thinking to 4,096");
    expect(label({ thinking }, {}, warm)).toBe("Greedy · no thinking");
    expect(label({ thinking, max_tokens: 9 }, { system_prompt: "Be brief." })).toBe("3 changes");
  });

  it("is that of a preset", () => {
    expect(label({ thinking: { mode: "off" } }, { preset: OWL.id })).toBe("Owl");
  });
});
