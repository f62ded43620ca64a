// @vitest-environment happy-dom
import { act, cleanup, render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { history } from "../benchmarks/samples";
import { useBenchmarks } from "../benchmarks/store";
import type { LibrarySnapshot, ModelEntry, RemoteModel } from "../bridge/bindings";
import { ShellError, shell } from "../bridge/bridge";
import * as actions from "../chat/actions";
import { chatSummary } from "../chat/samples";
import { about } from "../models/actions";
import { fitOf, job, library, local, modelInfo, remote } from "../models/samples";
import { dispatch, setView, useStore } from "../state/store";
import { EmptyChat } from "./EmptyChat";

const initial = useStore.getInitialState();

const DEMO: ModelEntry = { path: "/demo", name: "Demo model", built_in: true };
const OWN: ModelEntry = { path: "/own", name: "Own", built_in: false };
const demo = local("/demo", { origin: "built_in" });
const best = remote("org/best", {
  name: "Best 27B",
  kind: "converted",
  format: "4-bit, group 64",
  download_bytes: 15.1e9,
  recommended: true,
  expected: { plain: { low: 31, high: 31 }, guessing: { low: 48, high: 60 } },
});

const begin = (more: Partial<typeof initial> = {}) =>
  useStore.setState(
    {
      ...initial,
      opened: true,
      engine: { state: "ready", model: modelInfo("/demo"), device: "cpu", in_memory: true },
      models: [DEMO, OWN],
      selectedModel: "/demo",
      library: library({ models: [demo] }),
      ...more,
    },
    true,
  );

const listing = (models: RemoteModel[]) => ({ models, asking: false, error: null });

beforeEach(() => {
  begin();
  useBenchmarks.setState({
    ...useBenchmarks.getInitialState(),
    history: { ...history([]), machine: { chip: "Apple M4 Max", ram_bytes: 64 * 2 ** 30 } },
  });
  vi.spyOn(shell, "catalogue").mockResolvedValue([best]);
});
afterEach(() => {
  cleanup();
  vi.restoreAllMocks();
});

/** The place of the chat, which other screens take. */
function Place() {
  return useStore((state) => state.screen) === "chat" ? <EmptyChat /> : null;
}

/** What stands there once all that is asked for has come. */
async function words(): Promise<string> {
  const { container } = render(<Place />);
  await act(async () => {});
  return container.textContent;
}

describe("an empty chat", () => {
  const chats = [chatSummary(1)];

  it("is told what the app is about where the demo model answers, or none, or no chat exists", async () => {
    for (const more of [{ chats }, { chats, selectedModel: "" }, { selectedModel: "/own" }]) {
      begin(more);
      expect(await words(), JSON.stringify(more)).toContain("Qwen on");
      cleanup();
    }
  });

  it("is calm for whoever has chats and a model", async () => {
    begin({ chats, selectedModel: "/own" });
    expect(await words()).toMatch(/^New chatNothing you write leaves this (Mac|computer)\.$/);
    cleanup();
    // None has the tag by which the list is narrowed.
    begin({ chats: [], tag: "rust", selectedModel: "/own" });
    expect(await words()).not.toContain("Qwen on");
    expect(shell.catalogue).not.toHaveBeenCalled();
  });

  it("has questions for the demo model, of which all is sent", async () => {
    const send = vi.spyOn(actions, "send").mockReturnValue(undefined as never);
    await words();
    const examples = screen.getAllByTestId("example");
    expect(examples).toHaveLength(3);
    for (const example of examples) await userEvent.click(example);
    expect(send.mock.calls.map(([question]) => question)).toEqual([
      "Tell me a story about an owl and a bell.",
      "Make a table with four countries and their capitals.",
      "What is multi-token prediction?",
    ]);
  });

  it("has none without a model, but says how to get one", async () => {
    begin({ selectedModel: "", library: library() });
    expect(await words()).toContain("Get a model to work with");
    expect(screen.queryByTestId("example")).toBeNull();
    expect(screen.getByTestId("download-offered")).toBeTruthy();
  });

  it("offers no model to whoever uses one", async () => {
    begin({ selectedModel: "/own" });
    await words();
    expect(screen.queryByTestId("model-offer")).toBeNull();
  });
});

describe("the model that is offered", () => {
  it("is the best for the machine, with what it takes and how fast it is expected to be", async () => {
    const text = await words();
    expect(text).toMatch(/For this (Mac|computer), an M4 Max with 64 GB:/);
    expect(text).toContain("Best 27B · 4-bit · 15.1 GB");
    expect(text).toContain("Expected speed 48–60 tok/s");
    expect(text).toContain("31 plain, 48–60 guessing");
    expect(screen.getByRole("img", { name: /^Expected .*not measured/ })).toBeTruthy();
  });

  it("tells of a model that is converted what is fetched and what is left", async () => {
    const raw: RemoteModel = {
      ...best,
      kind: "raw",
      format: "bfloat16",
      download_bytes: 8e9,
      parameters: 4e9,
    };
    begin({ catalogue: listing([{ ...raw, fit: fitOf("tight") }]) });
    expect(await words()).toContain("Best 27B · 8.0 GB, 2.3 GB as 4-bit · tight");
    const download = vi.spyOn(shell, "downloadModel").mockResolvedValue(7);
    await userEvent.click(screen.getByTestId("download-offered"));
    expect(download).toHaveBeenCalledExactlyOnceWith("org/best", {
      weights: { kind: "bits", bits: 4 },
      keep_raw: false,
    });
  });

  it("is downloaded in place, and the focus goes to how far it is", async () => {
    await words();
    const running = job(
      7,
      { stage: "downloading" },
      { name: "Best 27B", repo: "org/best", done: 1e9, total: 15e9 },
    );
    const download = vi.spyOn(shell, "downloadModel").mockImplementation(async () => {
      dispatch({
        kind: "app",
        event: { type: "library", library: library({ models: [demo], jobs: [running] }) },
      });
      return 7;
    });
    await userEvent.click(screen.getByTestId("download-offered"));
    expect(download).toHaveBeenCalledExactlyOnceWith("org/best", {
      weights: { kind: "published" },
      keep_raw: true,
    });
    const coming = await screen.findByTestId("offer-coming");
    expect(screen.queryByTestId("download-offered")).toBeNull();
    const offer = screen.getByTestId("model-offer");
    expect(offer.textContent).toContain("You can go on with the demo model.");
    expect(offer.textContent).toContain("Best 27B · Downloading");
    expect(offer.textContent).toContain("1.0 of 15.0 GB");
    expect(document.activeElement).toBe(coming);
    expect(useStore.getState().screen).toBe("chat");
  });

  describe("while its download is being prepared", () => {
    const comes = () =>
      act(() =>
        useStore.setState({ library: library({ models: [demo], jobs: [job(7, { stage: "downloading" })] }) }),
      );

    /** Begins a download, and gives what lets the shell answer. */
    async function download(): Promise<() => Promise<void>> {
      let answer: (job: number) => void = () => {};
      vi.spyOn(shell, "downloadModel").mockReturnValue(
        new Promise((resolve) => {
          answer = resolve;
        }),
      );
      render(
        <>
          <Place />
          <textarea data-testid="composer" />
        </>,
      );
      await act(async () => {});
      await userEvent.click(screen.getByTestId("download-offered"));
      return () => act(async () => answer(7));
    }

    it("lets whoever writes go on, whether it is there before or after the answer", async () => {
      for (const early of [true, false]) {
        begin();
        const answer = await download();
        const composer = screen.getByTestId("composer");
        composer.focus();
        if (early) comes();
        await answer();
        expect(useStore.getState().spotlight).toBeNull();
        if (!early) comes();
        expect(screen.getByTestId("offer-coming")).toBeTruthy();
        expect(document.activeElement).toBe(composer);
        cleanup();
      }
    });

    it("leads to nothing later where somebody went on after the answer", async () => {
      const answer = await download();
      await answer();
      expect(useStore.getState().spotlight).toBe("job:7");
      act(() => screen.getByTestId("composer").focus());
      expect(useStore.getState().spotlight).toBeNull();
      cleanup();
      begin();
      await (await download())();
      act(() => setView({ screen: "benchmarks" }));
      expect(useStore.getState().spotlight).toBeNull();
    });

    it("leads to nothing on another screen or in another chat", async () => {
      for (const more of [{ screen: "models" }, { chat: 5 }] as const) {
        begin();
        const answer = await download();
        act(() => useStore.setState(more));
        await answer();
        expect(useStore.getState().spotlight).toBeNull();
        cleanup();
      }
    });

    it("leads there from nowhere, as a click leaves the focus on a Mac", async () => {
      const answer = await download();
      act(() => screen.getByTestId("download-offered").blur());
      await answer();
      comes();
      expect(document.activeElement).toBe(screen.getByTestId("offer-coming"));
      expect(useStore.getState().spotlight).toBeNull();
    });
  });

  it("leads to a download that has stopped, and says why and what to do", async () => {
    const error = { code: "disk_full", message: "The disk is full.", hint: "Free some space." };
    begin({ library: library({ models: [demo], jobs: [job(7, { stage: "failed", error })] }) });
    await words();
    const note = screen.getByTestId("offer-error");
    expect(note.textContent).toBe("The disk is full.Free some space.Go to the download");
    expect(note.querySelector(".sign.short")).toBeTruthy();
    expect(screen.getByTestId("model-offer").querySelector(".primary")).toBeNull();
    await userEvent.click(screen.getByTestId("open-job"));
    expect(useStore.getState()).toMatchObject({ screen: "models", spotlight: "job:7" });
  });

  it("leads to a download that is paused", async () => {
    begin({ library: library({ models: [demo], jobs: [job(7, { stage: "paused" })] }) });
    expect(await words()).toContain("Model 7 · Paused");
    expect(screen.queryByTestId("offer-error")).toBeNull();
    await userEvent.click(screen.getByTestId("open-job"));
    expect(useStore.getState()).toMatchObject({ screen: "models", spotlight: "job:7" });
  });

  it("says why it could not be got, and nothing of why another could not", async () => {
    const report = { code: "gated_no_token", message: "Not for everybody.", hint: "" };
    begin({ libraryError: { about: about.details("org/other"), report } });
    expect(await words()).not.toContain("Not for everybody.");
    vi.spyOn(shell, "downloadModel").mockRejectedValue(new ShellError(report));
    await userEvent.click(screen.getByTestId("download-offered"));
    const note = await screen.findByTestId("library-error");
    expect(note.textContent).toContain("https://huggingface.co/org/best");
    expect(screen.getByTestId("model-offer").querySelectorAll(".primary")).toHaveLength(1);
  });

  it("cannot be downloaded where the disk is away or too full, and says so", async () => {
    const { place } = library();
    const download = vi.spyOn(shell, "downloadModel");
    for (const [more, why] of [
      [{ online: false }, /disk is not connected/],
      [{ free_bytes: 1e9 }, /takes 15\.1 GB, and 1\.0 GB is free/],
    ] as const) {
      begin({ library: library({ models: [demo], place: { ...place, ...more } }) });
      expect(await words()).toMatch(why);
      await userEvent.click(screen.getByTestId("download-offered"));
      cleanup();
    }
    expect(download).not.toHaveBeenCalled();
  });

  it("is used once it is here", async () => {
    const select = vi.spyOn(shell, "selectModel").mockResolvedValue(null as never);
    const own = local("/own", {
      name: "Best 27B",
      tuning: {
        tokens_per_second: [31, 48],
        best_depth: 1,
        kv_precision: "full",
        draft_vocabulary: null,
        strained: false,
        measured_at: 0,
      },
    });
    begin({ library: library({ models: [demo, own] }) });
    expect(await words()).toMatch(
      /A model to work with.*Best 27B · 4-bit · 1\.0 GB.*Measured speed 48 tok\/s/,
    );
    await userEvent.click(screen.getByTestId("use-offered"));
    expect(select).toHaveBeenCalledExactlyOnceWith("/own");
  });

  it("gives the focus to the message once it goes away", async () => {
    for (const more of [{ selectedModel: "/own" }, { selectedModel: "/own", chats: [chatSummary(1)] }])
      for (const [models, testId] of [
        [[demo, local("/own")], "use-offered"],
        [[demo, local("/a", { origin: "lm_studio" })], "use-elsewhere"],
      ] as const) {
        begin({ library: library({ models: [...models] }) });
        render(
          <>
            <EmptyChat />
            <textarea data-testid="composer" />
          </>,
        );
        await act(async () => {});
        screen.getByTestId(testId).focus();
        await act(async () => useStore.setState(more));
        expect(screen.queryByTestId(testId)).toBeNull();
        expect(document.activeElement).toBe(screen.getByTestId("composer"));
        cleanup();
      }
  });

  it("gives way to the way to all models where none can be named", async () => {
    for (const answer of [async () => [], () => Promise.reject(new Error("gone"))]) {
      vi.spyOn(shell, "catalogue").mockImplementation(answer);
      begin();
      expect(await words()).toContain("For a real conversation, get a bigger one");
      expect(screen.getByTestId("get-bigger").textContent).toBe("Get a model");
      cleanup();
    }
  });

  it("leaves its place empty until it is known", async () => {
    vi.spyOn(shell, "catalogue").mockReturnValue(new Promise(() => {}));
    await words();
    const offer = screen.getByTestId("model-offer");
    expect(offer.textContent).toBe("Get a model to work with");
    expect(offer.ariaBusy ?? offer.getAttribute("aria-busy")).toBe("true");
  });

  it("stands beside the way to all others", async () => {
    await words();
    await userEvent.click(screen.getByTestId("get-bigger"));
    expect(useStore.getState()).toMatchObject({ screen: "models", spotlight: "get" });
  });
});

describe("models that other programs have", () => {
  const at = (...paths: string[]): LibrarySnapshot =>
    library({ models: [demo, ...paths.map((path) => local(path, { origin: "lm_studio" }))] });

  it("are shown where they stand", async () => {
    begin({ library: at("/a", "/b") });
    expect(await words()).toContain("2 models in LM Studio’s folder Use them");
    await userEvent.click(screen.getByTestId("use-elsewhere"));
    expect(useStore.getState()).toMatchObject({ screen: "models", spotlight: "model:/a" });
  });

  it("are used where there is a single one", async () => {
    const open = vi.spyOn(shell, "openModel").mockResolvedValue(null as never);
    begin({ library: at("/a") });
    expect(await words()).toContain("a in LM Studio’s folder Use it");
    await userEvent.click(screen.getByTestId("use-elsewhere"));
    expect(open).toHaveBeenCalledExactlyOnceWith("/a");
  });

  it("are not told of where there are none", async () => {
    expect(await words()).not.toContain("LM Studio");
    act(() => setView({}));
    expect(screen.queryByTestId("use-elsewhere")).toBeNull();
  });
});
