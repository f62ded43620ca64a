// @vitest-environment happy-dom
import { act, cleanup, render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { EngineState, LocalModel, SpreadOutlook } from "../bridge/bindings";
import { ShellError, shell } from "../bridge/bridge";
import { EngineBanner } from "../frame/EngineBanner";
import { LocalDetails } from "../models/LocalDetails";
import { ModelPicker } from "../models/ModelPicker";
import { fitOf, library, local, modelInfo } from "../models/samples";
import { dispatch, useStore } from "../state/store";
import { moved, sizes } from "./labels";
import { RingPart } from "./RingPart";
import { mini, otherMacs, PARTS, RING, studio } from "./samples";

const initial = useStore.getInitialState();
const READY: EngineState = { state: "ready", model: modelInfo("/m"), device: "metal", in_memory: true };

beforeEach(() => useStore.setState({ ...initial, opened: true, library: library(), engine: READY }, true));
afterEach(() => {
  cleanup();
  vi.restoreAllMocks();
});

describe("what other Macs could do for a model", () => {
  const BIG = local("/big", { fit: fitOf("too_big", 223e9, 48e9) });
  const FITS: SpreadOutlook = {
    outlook: "fits",
    spreading: { parts: PARTS, context: 65_536, tokens_per_second: 26.4 },
    left_out: ["Mac mini"],
  };

  async function opened(model: LocalModel, answer?: SpreadOutlook | Error, paired = [studio()]) {
    const ask = vi.spyOn(shell, "spreadOutlook");
    if (answer instanceof Error) ask.mockRejectedValue(answer);
    else if (answer) ask.mockResolvedValue(answer);
    else ask.mockReturnValue(new Promise(() => {}));
    useStore.setState({ macs: otherMacs({ paired }) });
    const close = vi.fn();
    render(<LocalDetails model={model} open onClose={close} />);
    await screen.findByTestId("local-details");
    return { ask, close };
  }

  it("is asked at once of a model that is too big, and said with what loads it", async () => {
    const load = vi.spyOn(shell, "loadSpread").mockResolvedValue(modelInfo("/big"));
    const { ask, close } = await opened(BIG, FITS);
    expect((await screen.findByTestId("outlook-words")).textContent).toBe("Fits on This Mac + Studio.");
    expect(ask).toHaveBeenCalledExactlyOnceWith("/big");
    expect(screen.getByRole("img", { name: "This Mac 11 layers, Studio 49 layers" })).toBeTruthy();
    expect(screen.getByTestId("outlook-figures").textContent).toBe(
      "Chats up to 64k · about 26 tokens/s without guesses, estimated",
    );
    expect(screen.getByTestId("outlook").textContent).toContain("Not needed: Mac mini.");
    expect(screen.queryByRole("slider")).toBeNull();
    await userEvent.click(screen.getByTestId("load-over-macs"));
    expect(load).toHaveBeenCalledExactlyOnceWith("/big", null);
    expect(close).toHaveBeenCalledOnce();
  });

  it("says beside the model why it did not load", async () => {
    const error = { code: "lender_busy", message: "Studio is in use.", hint: "" };
    vi.spyOn(shell, "loadSpread").mockRejectedValue(new ShellError(error));
    await opened(BIG, FITS);
    await userEvent.click(await screen.findByTestId("load-over-macs"));
    expect(useStore.getState().libraryError).toEqual({ about: "model:/big", report: error });
  });

  it("is asked of others only on demand", async () => {
    const { ask } = await opened(local("/small"), FITS);
    expect(ask).not.toHaveBeenCalled();
    await userEvent.click(screen.getByTestId("use-other-macs"));
    expect(await screen.findByTestId("load-over-macs")).toBeTruthy();
  });

  it.each<[SpreadOutlook, string, string]>([
    [
      { outlook: "lacking", macs: ["Studio"] },
      "Studio does not have this model.",
      "On that Mac, in Settings › Other Macs, let it keep layers of models, or download the model there.",
    ],
    [
      { outlook: "lacking", macs: ["Studio", "Mac mini"] },
      "Studio and Mac mini do not have this model.",
      "On that Mac, in Settings › Other Macs, let it keep layers of models, or download the model there.",
    ],
    [
      { outlook: "too_big", usable_bytes: 253e9 },
      "It is too big for your Macs together.",
      "Together they give models 253 GB.",
    ],
    [{ outlook: "nobody" }, "No paired Mac answers.", "Check that the other Macs are awake"],
  ])("says why it is not to be: %o", async (outlook, words, hint) => {
    const { ask } = await opened(BIG, outlook);
    expect((await screen.findByTestId("outlook-words")).textContent).toBe(words);
    expect(screen.getByTestId("outlook").textContent).toContain(hint);
    expect(screen.queryByTestId("load-over-macs")).toBeNull();
    await userEvent.click(screen.getByTestId("ask-again"));
    expect(ask).toHaveBeenCalledTimes(2);
  });

  it("says that it is being asked", async () => {
    await opened(BIG);
    expect(screen.getByText("Asking your other Macs…")).toBeTruthy();
  });

  it("says how far another Mac has been given its layers, before it is loaded, and ends that", async () => {
    const stop = vi.spyOn(shell, "stopGiving").mockResolvedValue(null);
    const giving = { path: "/big", mac: "Studio", done_bytes: 3e9, all_bytes: 18e9, bytes_per_second: 5e8 };
    const engine: EngineState = { state: "loading", path: "/big", done: 0, total: 0 };
    useStore.setState({ engine, macs: otherMacs({ giving }) });
    render(<EngineBanner />);
    const banner = screen.getByTestId("giving");
    expect(banner.textContent).toContain("Giving Studio its layers3.0 of 18.0 GB, 500 MB/s, 30 s left");
    await userEvent.click(screen.getByTestId("stop-giving"));
    expect(stop).toHaveBeenCalledOnce();
    act(() => useStore.setState({ macs: otherMacs() }));
    expect(screen.queryByTestId("giving")).toBeNull();
    expect(screen.getByTestId("engine-banner").textContent).toContain("Loading");
  });

  it("says what went wrong, and asks again", async () => {
    const error = new ShellError({ code: "x", message: "It did not work.", hint: "" });
    const { ask } = await opened(BIG, error);
    expect((await screen.findByTestId("outlook-error")).textContent).toContain("It did not work.");
    ask.mockResolvedValue(FITS);
    await userEvent.click(screen.getByTestId("ask-again"));
    expect(await screen.findByTestId("load-over-macs")).toBeTruthy();
  });

  it("leads to the settings where no Mac lends itself", async () => {
    const settings = vi.spyOn(shell, "openSettings").mockResolvedValue(null);
    const { ask, close } = await opened(BIG, FITS, [mini()]);
    expect(ask).not.toHaveBeenCalled();
    await userEvent.click(screen.getByTestId("pair-macs"));
    expect(settings).toHaveBeenCalledExactlyOnceWith("other_macs");
    expect(close).toHaveBeenCalledOnce();
  });

  it("is nothing for one that fits where no Mac lends itself, and for one that cannot be used", async () => {
    await opened(local("/small"), FITS, []);
    expect(screen.queryByTestId("outlook")).toBeNull();
    cleanup();
    const { ask } = await opened({ ...BIG, state: { state: "offline" } }, FITS);
    expect(ask).not.toHaveBeenCalled();
    expect(screen.queryByTestId("outlook")).toBeNull();
  });

  it("is said of one that is loaded over several, which can be loaded here alone", async () => {
    const alone = vi.spyOn(shell, "loadAlone").mockResolvedValue(modelInfo("/big"));
    const { ask } = await opened(BIG, FITS);
    act(() =>
      useStore.setState({
        macs: otherMacs({ paired: [studio()], spread: [{ path: "/big", parts: PARTS }] }),
      }),
    );
    expect(screen.getByTestId("outlook").textContent).toContain("It is loaded over This Mac + Studio.");
    await userEvent.click(screen.getByTestId("load-alone"));
    expect(alone).toHaveBeenCalledExactlyOnceWith("/big");
    expect(ask).toHaveBeenCalledOnce();
  });
});

describe("the Macs that compute", () => {
  const tell = (ring: typeof RING) => act(() => dispatch({ kind: "app", event: { type: "ring", ring } }));

  it("are not spoken of where this one computes alone", () => {
    render(
      <>
        <RingPart />
        <ModelPicker />
      </>,
    );
    expect(screen.queryByTestId("ring")).toBeNull();
    expect(screen.getByTestId("model-picker").textContent).not.toContain("Macs");
  });

  it("are told with what each has and takes", () => {
    render(<RingPart />);
    tell(RING);
    const rows = screen.getAllByTestId("ring-mac").map(({ textContent }) => textContent);
    expect(rows).toEqual(["This Mac28 layers, 31.0 GB12 ms a step", "Studio36 layers, 40.0 GB8.1 ms a step"]);
    expect(screen.getByTestId("ring-link").textContent).toBe("Between them0.4 ms");
  });

  it("have a place for each figure before there is one", () => {
    render(<RingPart />);
    tell({ macs: RING.macs.map((mac) => ({ ...mac, step_ms: null })), link_ms: null });
    expect(screen.getAllByTestId("ring-mac").map(({ textContent }) => textContent)).toEqual([
      "This Mac28 layers, 31.0 GB–",
      "Studio36 layers, 40.0 GB–",
    ]);
    expect(screen.getByTestId("ring-link").textContent).toBe("Between them–");
  });

  it("are counted beside the model's name, and named in its details", async () => {
    const model = modelInfo("/m", { macs: RING.macs.map(({ name, layers }) => ({ name, layers })) });
    const engine: EngineState = { state: "ready", model, device: "metal", in_memory: true };
    useStore.setState({ engine, models: [{ path: "/m", name: "m", built_in: false }], selectedModel: "/m" });
    render(<ModelPicker />);
    expect(screen.getByTestId("model-picker").textContent).toContain("2 Macs");
    await userEvent.click(screen.getByTestId("model-picker"));
    const line = await screen.findByTestId("model-macs");
    expect(line.textContent).toBe("This Mac 28 layers · Studio 36 layers");
  });
});

describe("a Mac that is lost", () => {
  it("is named where the reply ended, with a button that loads the model again", async () => {
    const select = vi.spyOn(shell, "selectModel").mockResolvedValue(modelInfo("/m"));
    const settings = vi.spyOn(shell, "openSettings").mockResolvedValue(null);
    const error = {
      code: "mac_lost",
      message: "Studio does not answer any more.",
      hint: "Check that the other Macs are awake, then load the model again.",
    };
    useStore.setState({ engine: { state: "failed", error, model: null }, selectedModel: "/m" });
    render(<EngineBanner />);
    expect(screen.getByTestId("engine-banner").textContent).toContain(error.message);
    expect(screen.getByTestId("engine-banner").textContent).toContain(error.hint);
    await userEvent.click(screen.getByRole("button", { name: "Load again" }));
    expect(select).toHaveBeenCalledExactlyOnceWith("/m");
    await userEvent.click(screen.getByTestId("look-at-macs"));
    expect(settings).toHaveBeenCalledExactlyOnceWith("other_macs");
  });
});

describe("layers", () => {
  it("go from one Mac to its neighbour, and each keeps one", () => {
    expect(moved([11, 49, 20], 1, 30.4)).toEqual([11, 30, 39]);
    expect(moved([11, 49], 0, -3)).toEqual([1, 59]);
    expect(moved([11, 49], 0, 99)).toEqual([59, 1]);
  });

  it("take their memory with them", () => {
    const [here, there] = sizes(PARTS, [12, 48]);
    expect(here).toBeCloseTo(42e9 + 223e9 / 60);
    expect((here ?? 0) + (there ?? 0)).toBeCloseTo(223e9);
  });
});
