// @vitest-environment happy-dom
import { act, cleanup, render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { ShellError, shell } from "../bridge/bridge";
import { setView, useStore } from "../state/store";
import { about } from "./actions";
import { RemoteDetails } from "./RemoteDetails";
import { library, remote } from "./samples";

const initial = useStore.getInitialState();
const model = remote("org/m", { kind: "converted" });
const report = { code: "gated_no_token", message: "Not for everybody.", hint: "" };

beforeEach(() => {
  useStore.setState({ ...initial, opened: true, screen: "models", library: library(), details: model }, true);
  vi.spyOn(shell, "modelCard").mockResolvedValue("");
});
afterEach(() => {
  cleanup();
  vi.restoreAllMocks();
});

async function download(): Promise<void> {
  render(<RemoteDetails />);
  await act(async () => {});
  await userEvent.click(screen.getByTestId("download"));
}

describe("what is known of a model of the Hub", () => {
  it("says why it cannot be got until it is closed, beside one main button", async () => {
    vi.spyOn(shell, "downloadModel").mockRejectedValue(new ShellError(report));
    await download();
    expect((await screen.findByTestId("library-error")).textContent).toContain("huggingface.co/org/m");
    expect(screen.getByTestId("model-details").querySelectorAll(".primary")).toHaveLength(1);
    await userEvent.keyboard("{Escape}");
    expect(useStore.getState()).toMatchObject({ details: null, libraryError: null });
  });

  it("leaves what is said of something else as it closes", async () => {
    render(<RemoteDetails />);
    const libraryError = { about: about.library, report };
    act(() => setView({ libraryError }));
    await userEvent.click(screen.getByLabelText("Close"));
    expect(useStore.getState()).toMatchObject({ details: null, libraryError });
  });

  it("closes once the download has begun, and the way leads to it", async () => {
    vi.spyOn(shell, "downloadModel").mockResolvedValue(7);
    await download();
    expect(useStore.getState()).toMatchObject({ details: null, spotlight: "job:7" });
  });

  it("says why nothing came of it where it was closed by then", async () => {
    let refuse: (error: ShellError) => void = () => {};
    vi.spyOn(shell, "downloadModel").mockReturnValue(
      new Promise((_, reject) => {
        refuse = reject;
      }),
    );
    await download();
    await userEvent.click(screen.getByLabelText("Close"));
    await act(async () => refuse(new ShellError(report)));
    expect(useStore.getState()).toMatchObject({ libraryError: null, note: { text: "Not for everybody." } });
  });

  it("stays where another model is looked at by then", async () => {
    let answer: (job: number) => void = () => {};
    vi.spyOn(shell, "downloadModel").mockReturnValue(
      new Promise((resolve) => {
        answer = resolve;
      }),
    );
    await download();
    const other = remote("org/other");
    act(() => setView({ details: other }));
    await act(async () => answer(7));
    expect(useStore.getState()).toMatchObject({ details: other, spotlight: null });
  });
});
