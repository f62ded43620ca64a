// @vitest-environment happy-dom
import { act, cleanup, fireEvent, render, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { ErrorReport, MacPairing, OtherMacs } from "../bridge/bindings";
import { ShellError, shell } from "../bridge/bridge";
import { lendingOf, mini, otherMacs, PARTS, studio } from "../macs/samples";
import { modelInfo } from "../models/samples";
import { dispatch, useStore } from "../state/store";
import { OtherMacsPage } from "./OtherMacsPage";

const initial = useStore.getInitialState();

const AWAY: ErrorReport = {
  code: "peer_unreachable",
  message: "studio.local:7421 cannot be reached: connection refused.",
  hint: "Check that the other Mac is on.",
};

const tell = (macs: Partial<OtherMacs>) =>
  act(() => dispatch({ kind: "app", event: { type: "macs", macs: otherMacs(macs) } }));

const choose = async (name: string, at = 0) => {
  const user = userEvent.setup();
  await user.click(screen.getAllByTestId("mac-more")[at] as HTMLElement);
  await user.click(await screen.findByText(name));
};

beforeEach(() => {
  useStore.setState(
    {
      ...initial,
      opened: true,
      engine: { state: "ready", model: modelInfo("/m"), device: "metal", in_memory: true },
    },
    true,
  );
  vi.spyOn(shell, "lookForMacs").mockResolvedValue(null);
});
afterEach(() => {
  cleanup();
  vi.restoreAllMocks();
  vi.useRealTimers();
});

describe("other Macs", () => {
  it("are looked for while the page is shown, and no longer", () => {
    const { unmount } = render(<OtherMacsPage />);
    expect(shell.lookForMacs).toHaveBeenCalledExactlyOnceWith(true);
    unmount();
    expect(shell.lookForMacs).toHaveBeenLastCalledWith(false);
    expect(shell.lookForMacs).toHaveBeenCalledTimes(2);
  });

  it("are told by what is known of them, this one first", () => {
    tell({ paired: [mini(), studio()] });
    render(<OtherMacsPage />);
    expect(screen.getByTestId("this-mac").textContent).toBe(
      "This MacMacBook Pro · Apple M4 Max · 48.0 GB for modelsleads",
    );
    const [lent, lends] = screen.getAllByTestId("mac-facts").map(({ textContent }) => textContent);
    expect(lent).toBe("may use this Mac");
    expect(lends).toBe("Apple M3 Ultra · 205 GB free · 0.2 ms, 2.9 GB/s");
    expect(screen.getAllByTestId("paired-mac")[1]?.textContent).toContain("connected");
    expect(screen.queryByTestId("no-macs")).toBeNull();
  });

  it("say why they do not answer, and what helps", () => {
    tell({ paired: [studio({ state: { state: "away", error: AWAY } })] });
    render(<OtherMacsPage />);
    expect(screen.getByTestId("paired-mac").textContent).toContain("does not answer");
    expect(screen.getByTestId("mac-away").textContent).toContain(AWAY.message);
    expect(screen.getByTestId("mac-away").textContent).toContain(AWAY.hint);
  });

  it("are tested and given another address from their menu", async () => {
    const test = vi.spyOn(shell, "testMacLink").mockResolvedValue(null);
    const set = vi.spyOn(shell, "setMacAddress").mockResolvedValue(null);
    tell({ paired: [studio()] });
    render(<OtherMacsPage />);
    await choose("Test link");
    expect(test).toHaveBeenCalledExactlyOnceWith("key-studio");
    await choose("Change address…");
    const field = screen.getByRole<HTMLInputElement>("textbox", { name: "Address of “Studio”" });
    expect(field.value).toBe("studio.local:7421");
    await userEvent.click(screen.getByTestId("set-mac-address"));
    expect(set, "the same address is none").not.toHaveBeenCalled();
    await userEvent.clear(field);
    await userEvent.type(field, " 10.0.0.2:9000 {enter}");
    expect(set).toHaveBeenCalledExactlyOnceWith("key-studio", "10.0.0.2:9000");
    await waitFor(() => expect(screen.queryByTestId("mac-address")).toBeNull());
  });

  it("may use this one or not: by a switch, or by the menu of one that lends itself", async () => {
    const allow = vi.spyOn(shell, "allowMac").mockResolvedValue(null);
    tell({ paired: [mini(), studio()] });
    render(<OtherMacsPage />);
    await userEvent.click(screen.getByRole("switch", { name: "Let “Mac mini” use this Mac" }));
    expect(allow).toHaveBeenLastCalledWith("key-mini", false);
    await choose("Let it use this Mac", 1);
    expect(allow).toHaveBeenLastCalledWith("key-studio", true);
    tell({ paired: [mini({ borrows: false }), studio({ borrows: true })] });
    const [lent, lends] = screen.getAllByTestId("mac-facts").map(({ textContent }) => textContent);
    expect(lent).toBe("may not use this Mac");
    expect(lends).toContain("may use this Mac");
    await choose("No longer let it use this Mac", 1);
    expect(allow).toHaveBeenLastCalledWith("key-studio", false);
  });

  it("are forgotten after a question where they lend themselves or use this one", async () => {
    const forget = vi.spyOn(shell, "forgetMac").mockResolvedValue(null);
    tell({ paired: [mini(), studio()] });
    render(<OtherMacsPage />);
    await choose("Forget");
    expect(forget).toHaveBeenLastCalledWith("key-mini");
    await choose("Forget…", 1);
    expect(screen.getByTestId("forget-mac-sheet").textContent).toContain("pair the two once more");
    await userEvent.click(screen.getByTestId("forget-mac-sheet-cancel"));
    expect(forget).toHaveBeenCalledOnce();
    await choose("Forget…", 1);
    await userEvent.click(screen.getByTestId("forget-mac-sheet-now"));
    expect(forget).toHaveBeenLastCalledWith("key-studio");
    tell({
      paired: [mini()],
      lending: lendingOf({
        in_use: { key: "key-mini", mac: "Mac mini", model: "/m/Qwen3.5-122B", since: Date.now() },
      }),
    });
    await choose("Forget…");
    expect(screen.getByTestId("forget-mac-sheet").textContent).toContain("What it computes here ends");
  });
});

describe("a pairing", () => {
  const compare = (more: Partial<Extract<MacPairing, { stage: "compare" }>> = {}): MacPairing => ({
    stage: "compare",
    name: "Mac mini",
    digits: "418207",
    until: Date.now() + 102_000,
    borrows: false,
    confirmed: false,
    ...more,
  });

  it("begins with a Mac near by or with an address", async () => {
    const pair = vi.spyOn(shell, "pairWithMac").mockResolvedValue(null);
    tell({ near: [{ name: "Mac mini", address: "mini.local:7421" }] });
    render(<OtherMacsPage />);
    await userEvent.click(screen.getByRole("button", { name: "Pair: Mac mini" }));
    expect(pair).toHaveBeenLastCalledWith("mini.local:7421");
    await userEvent.click(screen.getByTestId("pair-by-address"));
    expect(pair, "nothing was typed").toHaveBeenCalledOnce();
    await userEvent.type(screen.getByTestId("pair-address"), " studio {enter}");
    expect(pair).toHaveBeenLastCalledWith("studio");
  });

  it("shows why it cannot begin, and begins one at a time", async () => {
    const pair = vi.spyOn(shell, "pairWithMac").mockRejectedValue(new ShellError(AWAY));
    render(<OtherMacsPage />);
    await userEvent.type(screen.getByTestId("pair-address"), "studio{enter}");
    expect((await screen.findByTestId("pair-error")).textContent).toContain(AWAY.message);
    tell({ pairing: { stage: "asking", whom: "studio:7421" } });
    expect(screen.getByTestId("pairing").textContent).toContain("Asking studio:7421…");
    await userEvent.type(screen.getByTestId("pair-address"), "{enter}");
    expect(pair).toHaveBeenCalledOnce();
    const close = vi.spyOn(shell, "closePairing").mockResolvedValue(null);
    await userEvent.click(screen.getByTestId("close-pairing"));
    expect(close).toHaveBeenCalledOnce();
  });

  it("shows the digits, and how long they are good for", () => {
    vi.useFakeTimers();
    tell({ pairing: compare() });
    render(<OtherMacsPage />);
    expect(screen.getByTestId("digits").textContent).toBe("418 207The number is 4 1 8 2 0 7.");
    expect(screen.getByTestId("pairing").textContent).toContain("Does “Mac mini” show the same number?");
    const words = () => screen.getByTestId("pairing-words").textContent;
    expect(words()).toBe("Both of you confirm. Good for 1 min 42 s.");
    act(() => void vi.advanceTimersByTime(43_000));
    expect(words()).toBe("Both of you confirm. Good for 59 s.");
    act(() => void vi.advanceTimersByTime(100_000));
    expect(words()).toBe("Both of you confirm. Good for 0 s.");
  });

  it("says which of the two may then use the other", () => {
    tell({ pairing: compare() });
    render(<OtherMacsPage />);
    expect(screen.getByTestId("pairing").textContent).toContain("This Mac can then use “Mac mini”.");
    tell({ pairing: compare({ borrows: true }) });
    expect(screen.getByTestId("pairing").textContent).toContain("“Mac mini” can then use this Mac.");
  });

  it("is answered by either button, and waits for the other Mac", async () => {
    const answer = vi.spyOn(shell, "answerPairing").mockResolvedValue(null);
    tell({ pairing: compare() });
    render(<OtherMacsPage />);
    await userEvent.click(screen.getByTestId("digits-differ"));
    expect(answer).toHaveBeenLastCalledWith(false);
    await userEvent.click(screen.getByTestId("digits-same"));
    expect(answer).toHaveBeenLastCalledWith(true);
    tell({ pairing: compare({ confirmed: true }) });
    expect(screen.queryByTestId("digits-same")).toBeNull();
    expect(screen.getByTestId("pairing").textContent).toContain("Waiting for the other Mac…");
  });

  it("ends with what one should know once, or with what went wrong", async () => {
    const close = vi.spyOn(shell, "closePairing").mockResolvedValue(null);
    tell({ pairing: { stage: "paired", name: "Mac mini", borrows: false } });
    render(<OtherMacsPage />);
    expect(screen.getByTestId("pairing").textContent).toContain("“Mac mini” is paired.");
    expect(screen.getByTestId("pairing").textContent).toContain("pair only with Macs that you trust");
    await userEvent.click(screen.getByTestId("close-pairing"));
    expect(close).toHaveBeenCalledOnce();
    tell({
      pairing: {
        stage: "failed",
        error: { code: "pairing_expired", message: "Too late.", hint: "Try again." },
      },
    });
    expect(screen.getByTestId("pairing-failed").textContent).toContain("Too late.");
    expect(screen.getByTestId("pairing-failed").textContent).toContain("Try again.");
    await userEvent.click(screen.getByTestId("close-pairing"));
    expect(close).toHaveBeenCalledTimes(2);
  });
});

describe("lending this Mac", () => {
  it("is off until it is switched on, and says that nothing listens", async () => {
    const set = vi.spyOn(shell, "setLending").mockResolvedValue(null);
    tell({});
    render(<OtherMacsPage />);
    expect(screen.getByText(/Nothing listens on the network/)).toBeTruthy();
    expect(screen.queryByTestId("lend-port")).toBeNull();
    await userEvent.click(screen.getByTestId("lend-on"));
    expect(set).toHaveBeenCalledExactlyOnceWith({ ...otherMacs().lending.settings, on: true });
  });

  it("shows its address, and changes one term at a time", async () => {
    const set = vi.spyOn(shell, "setLending").mockResolvedValue(null);
    const lending = lendingOf();
    lending.settings.most_gigabytes = 20;
    tell({ lending });
    render(<OtherMacsPage />);
    expect(screen.getByTestId("lend-address").textContent).toBe("macbook-pro.local:7421");
    const memory = screen.getByTestId<HTMLSelectElement>("lend-memory");
    expect([...memory.options].map(({ text }) => text)).toEqual([
      "As much as this Mac gives models (48.0 GB)",
      "8 GB",
      "16 GB",
      "20 GB",
      "32 GB",
    ]);
    expect(memory.value).toBe("20");
    await userEvent.selectOptions(memory, "32");
    expect(set).toHaveBeenLastCalledWith({ ...lending.settings, most_gigabytes: 32 });
    await userEvent.selectOptions(memory, "");
    expect(set).toHaveBeenLastCalledWith({ ...lending.settings, most_gigabytes: null });
    await userEvent.click(screen.getByTestId("lend-power"));
    expect(set).toHaveBeenLastCalledWith({ ...lending.settings, only_on_power: false });
    await userEvent.click(screen.getByTestId("lend-unused"));
    expect(set).toHaveBeenLastCalledWith({ ...lending.settings, only_unused: false });
    await userEvent.clear(screen.getByTestId("lend-port"));
    await userEvent.type(screen.getByTestId("lend-port"), "7500{enter}");
    expect(set).toHaveBeenLastCalledWith({ ...lending.settings, port: 7500 });
  });

  it("lets a Mac pair for a while, once it listens", async () => {
    const open = vi.spyOn(shell, "openForPairing").mockResolvedValue(null);
    const close = vi.spyOn(shell, "closePairing").mockResolvedValue(null);
    tell({ lending: lendingOf({ address: null }) });
    render(<OtherMacsPage />);
    expect(screen.getByText("Starting…")).toBeTruthy();
    await userEvent.click(screen.getByTestId("open-for-pairing"));
    expect(open).not.toHaveBeenCalled();
    tell({ lending: lendingOf() });
    await userEvent.click(screen.getByTestId("open-for-pairing"));
    expect(open).toHaveBeenCalledOnce();
    tell({ lending: lendingOf({ open_until: Date.now() + 118_000 }) });
    expect(screen.getByTestId("open-words").textContent).toContain("Open for 1 min 58 s");
    await userEvent.click(screen.getByTestId("stop-pairing"));
    expect(close).toHaveBeenCalledOnce();
    tell({ lending: lendingOf({ open_until: Date.now() - 1 }) });
    expect(screen.getByTestId("open-for-pairing")).toBeTruthy();
  });

  it("names who uses it now, and ends that", async () => {
    const stop = vi.spyOn(shell, "takeMacBack").mockResolvedValue(null);
    const since = new Date().setHours(14, 2, 0, 0);
    tell({
      lending: lendingOf({
        in_use: { key: "c".repeat(64), mac: "Studio", model: "org/Qwen3.5-122B", since },
      }),
    });
    render(<OtherMacsPage />);
    const loan = screen.getByTestId("loan");
    expect(loan.textContent).toContain("Studio computes a part of Qwen3.5-122B here, since 14:02");
    await userEvent.click(within(loan).getByTestId("take-back"));
    expect(stop).toHaveBeenCalledOnce();
  });

  it("lists what others have given it, and removes what nobody uses", async () => {
    const remove = vi.spyOn(shell, "removeLayers").mockResolvedValue(null);
    const layers = {
      id: "one",
      model: "Qwen3.5-122B",
      mac: "MacBook Pro",
      layers: 12,
      bytes: 18e9,
      in_use: true,
    };
    tell({ lending: lendingOf({ stored: [layers] }) });
    render(<OtherMacsPage />);
    const stored = screen.getByTestId("stored-layers");
    expect(stored.textContent).toContain("Qwen3.5-122B, from MacBook Pro");
    expect(stored.textContent).toContain("12 layers, 18.0 GB");
    await userEvent.click(within(stored).getByTestId("remove-layers"));
    expect(remove).not.toHaveBeenCalled();
    tell({ lending: lendingOf({ stored: [{ ...layers, in_use: false }] }) });
    await userEvent.click(screen.getByTestId("remove-layers"));
    expect(remove).toHaveBeenCalledWith("one");
  });

  it("says why it does not listen, or was not changed", async () => {
    const taken = { code: "peer_listen", message: "Port 7421 is taken.", hint: "Choose another port." };
    tell({ lending: lendingOf({ address: null, error: taken }) });
    render(<OtherMacsPage />);
    expect(screen.getByTestId("lend-error").textContent).toContain("Choose another port.");
    vi.spyOn(shell, "setLending").mockRejectedValue(
      new ShellError({ ...taken, message: "Port 80 is not allowed." }),
    );
    await userEvent.click(screen.getByTestId("lend-power"));
    expect((await screen.findByTestId("lend-failed")).textContent).toContain("Port 80 is not allowed.");
  });
});

describe("a model over several Macs", () => {
  const layers = () =>
    screen.getByTestId("spread-model").querySelector("[role=img]")?.getAttribute("aria-label");

  it("is drawn with its layers, and loaded on this Mac alone on demand", async () => {
    const alone = vi.spyOn(shell, "loadAlone").mockResolvedValue(modelInfo("/m/Qwen3.5-397B"));
    tell({ spread: [{ path: "/m/Qwen3.5-397B", parts: PARTS }] });
    render(<OtherMacsPage />);
    expect(screen.getByRole("article", { name: "Qwen3.5-397B" }).textContent).toContain("223 GB");
    expect(layers()).toBe("This Mac 11 layers, Studio 49 layers");
    expect(screen.getByTestId("split").textContent).toContain("This Mac, 42.0 GB");
    expect(screen.queryByTestId("load-with-layers")).toBeNull();
    await userEvent.click(screen.getByTestId("load-alone"));
    expect(alone).toHaveBeenCalledExactlyOnceWith("/m/Qwen3.5-397B");
  });

  it("is loaded with other layers once its edge was moved by keys", async () => {
    const load = vi.spyOn(shell, "loadSpread").mockResolvedValue(modelInfo("/m/Qwen"));
    tell({ spread: [{ path: "/m/Qwen", parts: PARTS }] });
    render(<OtherMacsPage />);
    const edge = screen.getByRole("slider", { name: "Layers between This Mac and Studio" });
    expect(edge.getAttribute("aria-valuemax")).toBe("59");
    edge.focus();
    await userEvent.keyboard("{ArrowRight}{ArrowRight}");
    expect(edge.getAttribute("aria-valuenow")).toBe("13");
    expect(edge.getAttribute("aria-valuetext")).toBe("This Mac 13 layers, Studio 47 layers");
    expect(screen.getByTestId("split").textContent).toContain("more than its 48.0 GB for models");
    await userEvent.click(screen.getByTestId("layers-back"));
    expect(layers()).toBe("This Mac 11 layers, Studio 49 layers");
    edge.focus();
    await userEvent.keyboard("{Home}{ArrowLeft}");
    expect(layers(), "each keeps one").toBe("This Mac 1 layer, Studio 59 layers");
    await userEvent.keyboard("{End}{PageDown}");
    expect(layers()).toBe("This Mac 54 layers, Studio 6 layers");
    await userEvent.click(screen.getByTestId("load-with-layers"));
    expect(load).toHaveBeenCalledExactlyOnceWith("/m/Qwen", [54, 6]);
  });

  it("has its edge dragged, between its own neighbours alone", async () => {
    const load = vi
      .spyOn(shell, "loadSpread")
      .mockRejectedValue(new ShellError({ code: "mac_too_small", message: "Mini is too small.", hint: "" }));
    const third = { key: "key-mini", name: "Mac mini", layers: 20, bytes: 40e9, usable_bytes: 48e9 };
    tell({ spread: [{ path: "/m/Qwen", parts: [...PARTS, third] }] });
    render(<OtherMacsPage />);
    const [, edge] = screen.getAllByTestId("split-edge") as [HTMLElement, HTMLElement];
    edge.setPointerCapture = () => {};
    const bar = edge.parentElement as HTMLElement;
    bar.getBoundingClientRect = () => new DOMRect(100, 0, 800, 30);
    fireEvent.pointerDown(edge, { button: 0, pointerId: 1 });
    // The 70th of 80 layers.
    fireEvent.pointerMove(edge, { clientX: 800, pointerId: 1 });
    fireEvent.pointerUp(edge, { pointerId: 1 });
    fireEvent.pointerMove(edge, { clientX: 300, pointerId: 1 });
    expect(layers()).toBe("This Mac 11 layers, Studio 59 layers, Mac mini 10 layers");
    await userEvent.click(screen.getByTestId("load-with-layers"));
    expect(load).toHaveBeenCalledExactlyOnceWith("/m/Qwen", [11, 59, 10]);
    expect((await screen.findByTestId("spread-error")).textContent).toContain("Mini is too small.");
  });

  it("is not loaded while another is", async () => {
    const alone = vi.spyOn(shell, "loadAlone");
    tell({ spread: [{ path: "/m/Qwen", parts: PARTS }] });
    useStore.setState({ engine: { state: "loading", path: "/other", done: 1, total: 2 } });
    render(<OtherMacsPage />);
    await userEvent.click(screen.getByTestId("load-alone"));
    expect(alone).not.toHaveBeenCalled();
  });
});
