// @vitest-environment happy-dom
import { cleanup, render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { shell } from "../bridge/bridge";
import { modelInfo } from "../models/samples";
import { useStore } from "../state/store";
import { MtpControl } from "./MtpControl";

const initial = useStore.getInitialState();
const engine = { state: "ready", model: modelInfo("/owl"), device: "gpu" } as const;

beforeEach(() => {
  const settings = { ...initial.settings, drafting: { mode: "fixed", depth: 1 } } as const;
  useStore.setState({ ...initial, opened: true, engine, settings }, true);
  vi.spyOn(shell, "setSettings").mockResolvedValue(null);
});
afterEach(() => {
  cleanup();
  vi.restoreAllMocks();
});

const drafting = () => useStore.getState().settings.drafting;
const option = (name: string) => screen.getByTestId(`mtp-option-${name}`);

async function open() {
  const user = userEvent.setup();
  render(<MtpControl />);
  const button = screen.getByTestId("mtp-control");
  await user.click(button);
  // The one that holds, not the first one.
  await vi.waitFor(() => expect(document.activeElement).toBe(option("1")));
  return { user, button };
}

const isClosed = () => vi.waitFor(() => expect(screen.queryByTestId("mtp-option-auto")).toBe(null));

describe("the choice of a draft depth", () => {
  it("is made with a click, shown at once, and closes", async () => {
    const { user, button } = await open();
    await user.click(option("2"));
    await isClosed();
    expect(drafting()).toEqual({ mode: "fixed", depth: 2 });
    expect(button.textContent).toContain("MTP 2");
    expect(shell.setSettings).toHaveBeenCalledWith({ drafting: { mode: "fixed", depth: 2 } });
  });

  it("is made with the arrows, round the ends, and stays open", async () => {
    const { user } = await open();
    await user.keyboard("{ArrowUp}");
    expect([drafting(), document.activeElement]).toEqual([{ mode: "off" }, option("off")]);
    await user.keyboard("{ArrowUp}{ArrowUp}");
    expect([drafting(), document.activeElement]).toEqual([{ mode: "lookup" }, option("look-up")]);
    expect(option("look-up").getAttribute("aria-checked")).toBe("true");
    await user.keyboard("{ArrowDown}");
    expect([drafting(), document.activeElement]).toEqual([{ mode: "auto" }, option("auto")]);
  });

  it("goes back where the shell refuses it", async () => {
    vi.spyOn(shell, "setSettings").mockRejectedValue(new Error("no"));
    const { user, button } = await open();
    await user.click(option("off"));
    await vi.waitFor(() => expect(drafting()).toEqual({ mode: "fixed", depth: 1 }));
    expect(button.textContent).toContain("MTP 1");
    expect(useStore.getState().actionError).not.toBe(null);
  });

  it("is left as it is with Escape, which gives the focus back", async () => {
    const { user, button } = await open();
    await user.keyboard("{Escape}");
    await isClosed();
    await vi.waitFor(() => expect(document.activeElement).toBe(button));
    expect(shell.setSettings).not.toHaveBeenCalled();
  });

  it("has no numbers for a model without a head, and why is said", async () => {
    const model = modelInfo("/owl", { mtp: { state: "absent" } });
    useStore.setState({ engine: { ...engine, model } });
    const user = userEvent.setup();
    render(<MtpControl />);
    await user.click(screen.getByTestId("mtp-control"));
    expect((await screen.findByTestId("mtp-note")).textContent).toContain("This model has no MTP head.");
    expect(screen.queryByTestId("mtp-option-1")).toBe(null);
    await user.click(option("look-up"));
    expect(drafting()).toEqual({ mode: "lookup" });
  });
});
