// @vitest-environment happy-dom
import { act, cleanup, render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { shell } from "../bridge/bridge";
import { job, library, local, modelInfo } from "../models/samples";
import { useStore } from "../state/store";
import { MtpControl } from "./MtpControl";

const initial = useStore.getInitialState();
const engine = { state: "ready", model: modelInfo("/owl"), device: "gpu", in_memory: true } as const;

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

  it("has DFlash where a draft model is loaded", async () => {
    const beside = { name: "owl-draft", path: "/owl-draft", weight_bytes: 1, most_guesses: 15 };
    const model = modelInfo("/owl", { mtp: { state: "absent" }, draft_model: beside });
    useStore.setState({ engine: { ...engine, model } });
    const user = userEvent.setup();
    render(<MtpControl />);
    await user.click(screen.getByTestId("mtp-control"));
    await user.click(option("dflash"));
    expect(drafting()).toEqual({ mode: "dflash", depth: null });
    expect(screen.getByTestId("mtp-control").textContent).toContain("MTP DFlash");
  });

  it("offers the draft model that is not here, and then says how far it is", async () => {
    const repo = "z-lab/Owl-DFlash";
    const offer = { repo, name: "Owl-DFlash", download_bytes: 1.07e9 };
    const owl = local("/owl", { draft_model_offer: offer });
    useStore.setState({ library: library({ models: [owl] }) });
    vi.spyOn(shell, "downloadModel").mockResolvedValue(1);
    const { user } = await open();
    expect(screen.queryByTestId("mtp-option-dflash")).toBe(null);
    const get = screen.getByTestId("get-draft-model");
    expect(get.textContent).toBe("Get");
    expect(screen.getByTestId("mtp-missing-dflash").textContent).toContain("about 1.1 GB");
    await user.click(get);
    expect(shell.downloadModel).toHaveBeenCalledWith(repo, {
      weights: { kind: "published" },
      keep_raw: true,
    });
    const jobs = [job(1, { stage: "downloading" }, { repo, done: 1, total: 4 })];
    act(() => useStore.setState({ library: library({ models: [owl], jobs }) }));
    expect(screen.getByTestId("mtp-missing-dflash").textContent).toContain("Downloading, 25 %");
    // What is offered is none of the choices.
    option("3").focus();
    await user.keyboard("{ArrowDown}");
    expect(drafting()).toEqual({ mode: "lookup" });
  });

  it("says nothing of DFlash where no draft model is known", async () => {
    useStore.setState({ library: library({ models: [local("/owl")] }) });
    await open();
    expect(screen.queryByTestId("mtp-missing-dflash")).toBe(null);
  });
});

describe("the choice of which guesses stay", () => {
  const rules = () => screen.getAllByTestId(/^acceptance-/).map(({ textContent }) => textContent);
  const sampled = (temperature: number) => {
    const { settings } = useStore.getState();
    const sampling = { ...settings.sampling, temperature, acceptance: "rejection" } as const;
    useStore.setState({ settings: { ...settings, sampling } });
  };

  it("is of three rules where words are drawn", async () => {
    sampled(0.7);
    const { user } = await open();
    expect(rules()).toEqual(["Same text", "To the letter", "More guesses"]);
    await user.click(screen.getByTestId("acceptance-strict"));
    expect(useStore.getState().settings.sampling.acceptance).toBe("strict");
  });

  it("is of how far the text is the same where none are", async () => {
    sampled(0);
    await open();
    expect(rules()).toEqual(["Same text", "To the letter"]);
    expect(screen.getByTestId("acceptance-coupled").getAttribute("aria-checked")).toBe("true");
  });
});
