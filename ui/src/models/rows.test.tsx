// @vitest-environment happy-dom
import { cleanup, render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { shell } from "../bridge/bridge";
import { useStore } from "../state/store";
import { JobRow } from "./JobRow";
import { LocalRow } from "./LocalRow";
import { RemoteRow } from "./RemoteRow";
import { fitOf, job, library, local, remote } from "./samples";

const initial = useStore.getInitialState();

beforeEach(() => useStore.setState({ ...initial, opened: true, library: library() }, true));
afterEach(() => {
  cleanup();
  vi.restoreAllMocks();
});

describe("a model that lost its head", () => {
  it("leads to copies of it that have one", async () => {
    const search = vi.spyOn(shell, "searchModels").mockResolvedValue([remote("org/with-head")]);
    const model = local("/Qwen3.5-9B-MLX-8bit", { mtp: { state: "stripped" } });
    render(<LocalRow model={model} inUse={false} speed={null} end={0} />);
    await userEvent.click(screen.getByText("Get one with it"));
    expect(search).toHaveBeenCalledWith(
      expect.objectContaining({ text: "Qwen3.5-9B", with_mtp: true, kind: null }),
      true,
    );
    expect(useStore.getState().found?.models).toHaveLength(1);
  });
});

describe("a job", () => {
  const running = job(7, { stage: "downloading" }, { done: 5, total: 10 });

  async function choose(name: string) {
    const user = userEvent.setup();
    await user.click(screen.getByTestId("job-more"));
    await user.click(await screen.findByText(name));
    return user;
  }

  it("is ended only once somebody has said that what arrived may go", async () => {
    const cancel = vi.spyOn(shell, "cancelJob").mockResolvedValue(null);
    render(<JobRow job={running} jobs={[running]} />);
    let user = await choose("Cancel…");
    expect(cancel).not.toHaveBeenCalled();
    await user.click(screen.getByTestId("job-keep"));
    expect(screen.queryByTestId("confirm-cancel")).toBeNull();
    user = await choose("Cancel…");
    expect(screen.getByTestId("confirm-cancel").textContent).toContain("that arrived are removed");
    await user.click(screen.getByTestId("job-cancel-now"));
    expect(cancel).toHaveBeenCalledExactlyOnceWith(7);
  });

  it("is ended at once where nothing is lost", async () => {
    const cancel = vi.spyOn(shell, "cancelJob").mockResolvedValue(null);
    const queued = job(8, { stage: "queued" });
    render(<JobRow job={queued} jobs={[queued]} />);
    await choose("Cancel");
    expect(cancel).toHaveBeenCalledExactlyOnceWith(8);
  });

  it("is moved from its menu where there are others", async () => {
    const move = vi.spyOn(shell, "moveJob").mockResolvedValue(null);
    const jobs = [job(1, { stage: "downloading" }), job(2, { stage: "queued" })];
    render(<JobRow job={jobs[1] ?? running} jobs={jobs} />);
    await choose("Move up");
    expect(move).toHaveBeenCalledExactlyOnceWith(2, 0);
  });
});

describe("a model of the Hub", () => {
  it("opens by the one button of its row, which says what comes", async () => {
    const open = vi.fn();
    const { rerender } = render(<RemoteRow model={remote("org/m")} speed={null} end={0} onOpen={open} />);
    await userEvent.click(screen.getByRole("button", { name: "Get: org/m" }));
    expect(open).toHaveBeenCalledOnce();
    const large = remote("org/m", { fit: fitOf("too_big", 69e9, 64e9) });
    rerender(<RemoteRow model={large} speed={null} end={0} onOpen={open} />);
    expect(screen.getByRole("button", { name: "Details: org/m" })).toBeTruthy();
    expect(screen.getByTestId("remote-model").textContent).toContain("5.0 GB more");
  });
});
