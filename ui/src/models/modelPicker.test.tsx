// @vitest-environment happy-dom
import { cleanup, render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { ShellError, shell } from "../bridge/bridge";
import { useStore } from "../state/store";
import { ModelPicker } from "./ModelPicker";
import { library, local, modelInfo } from "./samples";

const initial = useStore.getInitialState();
const OWL = modelInfo("/owl");

beforeEach(() => {
  useStore.setState(
    {
      ...initial,
      opened: true,
      engine: { state: "ready", model: OWL, device: "gpu", in_memory: true },
      models: [{ path: "/owl", name: "owl", built_in: false }],
      selectedModel: "/owl",
      library: library({ models: [local("/owl"), local("/fox")] }),
    },
    true,
  );
});
afterEach(() => {
  cleanup();
  vi.restoreAllMocks();
});

async function open() {
  const user = userEvent.setup();
  render(<ModelPicker />);
  const button = screen.getByTestId("model-picker");
  await user.click(button);
  await screen.findByTestId("get-more");
  const choice = (name: string) => {
    const found = screen.getByText(name, { selector: ".choice-name" }).closest("button");
    if (!found) throw new Error(`${name} cannot be chosen`);
    return found;
  };
  return { user, button, choice };
}

const isClosed = () => vi.waitFor(() => expect(screen.queryByTestId("get-more")).toBe(null));

describe("the model picker", () => {
  it("says how the model is quantized where its name does not", () => {
    const said = (name: string, format: string) => {
      const model = modelInfo("/owl", { name, format });
      useStore.setState({
        engine: { state: "ready", model, device: "gpu", in_memory: true },
        models: [{ path: "/owl", name, built_in: false }],
      });
      render(<ModelPicker />);
      const words = screen.getByTestId("model-picker").textContent;
      cleanup();
      return words;
    };
    expect(said("owl", "4-bit")).toBe("owl · 4-bit");
    expect(said("owl-4bit", "4-bit")).toBe("owl-4bit");
    expect(said("owl", "bfloat16")).toBe("owl");
  });

  it("names the model that answers, and marks it in the list", async () => {
    const { button, choice } = await open();
    expect(button.textContent).toBe("owl");
    expect([choice("owl"), choice("fox")].map((one) => one.getAttribute("aria-current"))).toEqual([
      "true",
      "false",
    ]);
  });

  it("selects a model that was used before, opens another, and closes once it is there", async () => {
    const select = vi.spyOn(shell, "selectModel").mockResolvedValue(OWL);
    let opened = () => {};
    const openModel = vi
      .spyOn(shell, "openModel")
      .mockReturnValue(new Promise((resolve) => (opened = () => resolve(OWL))));
    const { user, choice } = await open();
    await user.click(choice("fox"));
    expect([openModel.mock.calls, screen.queryByTestId("get-more") === null]).toEqual([[["/fox"]], false]);
    opened();
    await isClosed();
    await user.click(screen.getByTestId("model-picker"));
    await screen.findByTestId("get-more");
    await user.click(choice("owl"));
    expect(select.mock.calls).toEqual([["/owl"]]);
  });

  it("stays open where a model does not open, and says why", async () => {
    const error = { code: "broken", message: "A tensor is missing.", hint: "Get it again." };
    vi.spyOn(shell, "openModel").mockRejectedValue(new ShellError(error));
    const { user, choice } = await open();
    await user.click(choice("fox"));
    expect((await screen.findByTestId("model-error")).textContent).toBe("A tensor is missing.Get it again.");
  });

  it("opens nothing while a model is loaded, and says so", async () => {
    const openModel = vi.spyOn(shell, "openModel").mockResolvedValue(OWL);
    useStore.setState({ engine: { state: "loading", path: "/owl", done: 1, total: 4 } });
    const { user, button, choice } = await open();
    expect(button.textContent).toBe("Loading owl · 25 %");
    await user.click(choice("fox"));
    expect(openModel).not.toHaveBeenCalled();
    expect(choice("fox").getAttribute("aria-description")).toBe("A model is being loaded.");
  });

  it("closes with Escape, and gives the focus back", async () => {
    const { user, button } = await open();
    await user.keyboard("{Escape}");
    await isClosed();
    await vi.waitFor(() => expect(document.activeElement).toBe(button));
  });

  it("closes with a click outside, and opens nothing", async () => {
    const openModel = vi.spyOn(shell, "openModel").mockResolvedValue(OWL);
    const { user } = await open();
    await user.click(document.body);
    await isClosed();
    expect(openModel).not.toHaveBeenCalled();
  });
});
