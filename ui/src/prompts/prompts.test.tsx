// @vitest-environment happy-dom
import { act, cleanup, render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Prompt } from "../bridge/bindings";
import { ShellError, shell } from "../bridge/bridge";
import { Composer } from "../chat/Composer";
import { dispatch, useStore } from "../state/store";
import { insertPrompt } from "./actions";
import { PromptsPage } from "./PromptsPage";
import { askedFor, examples, filledIn, nextPlace, summaryOf, variablesOf } from "./text";

const initial = useStore.getInitialState();
const TRANSLATE: Prompt = {
  name: "Translate",
  description: "",
  text: "Into {{language}}:\n{{ text }} {{language}}",
};
const STORY: Prompt = { name: "Tell a story", description: "For the evening", text: "Tell me a story." };

beforeEach(() => {
  // `scrollIntoView` is there in every browser, but not in this document.
  Element.prototype.scrollIntoView ??= () => {};
  vi.spyOn(shell, "setDraftText").mockResolvedValue(null);
  useStore.setState({ ...initial, opened: true, prompts: [TRANSLATE, STORY] }, true);
});
afterEach(() => {
  cleanup();
  vi.restoreAllMocks();
});

describe("a prompt's text", () => {
  it("has variables in double braces, each once", () => {
    expect(variablesOf(TRANSLATE.text)).toEqual(["language", "text"]);
    expect(variablesOf("{{}} {a} {{a\nb}} {{ a b }} {{{c}}}")).toEqual(["a b", "c"]);
    for (const { text } of examples()) expect(variablesOf(text).length).toBeGreaterThan(0);
  });

  it("is filled in from one place to the next, round the end", () => {
    const names = ["language", "text"];
    expect(nextPlace(TRANSLATE.text, names, 0)).toEqual({ from: 5, to: 17 });
    expect(nextPlace(TRANSLATE.text, names, 17)).toEqual({ from: 19, to: 29 });
    expect(nextPlace(TRANSLATE.text, names, 43)).toEqual({ from: 5, to: 17 });
    expect(nextPlace("{{other}}", names, 0)).toBe(null);
  });

  it("is filled in as it stands", () => {
    expect(filledIn("{{a}} {{ a }} {{b}} a", "a", "$& {{b}}")).toBe("$& {{b}} $& {{b}} {{b}} a");
  });

  it("is looked for behind a slash alone", () => {
    expect(askedFor("/")).toBe("");
    expect(askedFor("/tell a")).toBe("tell a");
    for (const text of ["", "a/", " /", "/etc/hosts", "/a\nb"]) expect(askedFor(text)).toBe(null);
    expect([TRANSLATE, STORY].map(summaryOf)).toEqual(["Into {{language}}:", "For the evening"]);
  });
});

describe("the composer", () => {
  const field = () => screen.getByTestId("composer") as HTMLTextAreaElement;
  const names = () => screen.queryAllByTestId("prompt").map((prompt) => prompt.textContent);
  const selected = () => field().value.slice(field().selectionStart, field().selectionEnd);

  it("offers prompts behind a slash, and Tab goes through what is to be filled in", async () => {
    const user = userEvent.setup();
    render(<Composer />);
    await user.click(field());
    await user.keyboard("/");
    expect(names()).toEqual(["TranslateInto {{language}}:", "Tell a storyFor the evening"]);
    await user.keyboard("{ArrowDown}{ArrowDown}tra");
    expect(names().length).toBe(1);
    await user.keyboard("{Enter}");
    expect(field().value).toBe(TRANSLATE.text);
    await vi.waitFor(() => expect(selected()).toBe("{{language}}"));
    await user.keyboard("French");
    await user.keyboard("{Tab}");
    expect(selected()).toBe("{{ text }}");
    await user.keyboard("Bell");
    await user.keyboard("{Tab}");
    expect(selected()).toBe("{{language}}");
    await user.keyboard("(in French)");
    expect(field().value).toBe("Into French:\nBell (in French)");
    // Nothing is left to fill in, so the key leads on.
    await user.keyboard("{Tab}");
    expect(document.activeElement).not.toBe(field());
  });

  describe("with a prompt that asks for the clipboard", () => {
    const ASKS: Prompt = { name: "Tell", description: "", text: "In {{ language }}:\n{{clipboard}}" };
    const choose = async () => {
      useStore.setState({ prompts: [ASKS, STORY] });
      const user = userEvent.setup();
      render(<Composer />);
      await user.click(field());
      await user.keyboard("/tell{Enter}");
      return user;
    };

    it("has its text there, and the next place is to be filled in", async () => {
      const read = vi.spyOn(shell, "clipboardText").mockResolvedValue("Owls cost $& 5.\n");
      const user = await choose();
      await vi.waitFor(() => expect(field().value).toBe("In {{ language }}:\nOwls cost $& 5.\n"));
      expect(read).toHaveBeenCalledTimes(1);
      await vi.waitFor(() => expect(selected()).toBe("{{ language }}"));
      await user.keyboard("French{Tab}");
      expect(document.activeElement).not.toBe(field());
    });

    it("leaves the place to be filled in where there is none, and says why where it cannot be read", async () => {
      const read = vi.spyOn(shell, "clipboardText").mockResolvedValue(null);
      const user = await choose();
      await vi.waitFor(() => expect(field().value).toBe(ASKS.text));
      await vi.waitFor(() => expect(selected()).toBe("{{ language }}"));
      await user.keyboard("French{Tab}");
      expect(selected()).toBe("{{clipboard}}");
      expect(useStore.getState().actionError).toBe(null);
      const report = { code: "clipboard_unavailable", message: "It is held.", hint: "" };
      read.mockRejectedValue(new ShellError(report));
      await insertPrompt(ASKS);
      expect(field().value).toContain(ASKS.text);
      expect(useStore.getState().actionError?.message).toBe("It is held.");
    });

    it("gives way to what is chosen meanwhile, and reads nothing for others", async () => {
      let answer = (_: string) => {};
      const read = vi.spyOn(shell, "clipboardText").mockReturnValue(
        new Promise((resolve) => {
          answer = resolve;
        }),
      );
      await choose();
      await act(() => insertPrompt(STORY, true));
      answer("Owls.");
      await act(async () => {});
      expect(field().value).toBe(STORY.text);
      expect(read).toHaveBeenCalledTimes(1);
    });
  });

  it("is left alone with Escape, and where nothing fits", async () => {
    const user = userEvent.setup();
    render(<Composer />);
    await user.click(field());
    await user.keyboard("/t");
    expect(names().length).toBe(2);
    await user.keyboard("{Escape}");
    expect(names()).toEqual([]);
    expect(field().value).toBe("/t");
    await user.keyboard("{Backspace}{Backspace}/");
    expect(names().length).toBe(2);
    await user.keyboard("zzz");
    expect(names()).toEqual([]);
  });

  it("says where prompts are kept while there are none", async () => {
    useStore.setState({ prompts: [] });
    const user = userEvent.setup();
    render(<Composer />);
    await user.click(field());
    await user.keyboard("/");
    expect(screen.getByTestId("no-prompts").textContent).toContain("Prompts…");
  });
});

describe("the page of the settings", () => {
  beforeEach(() => {
    vi.spyOn(shell, "setPrompts").mockImplementation(async (prompts) => {
      dispatch({ kind: "app", event: { type: "prompts", prompts } });
      return null;
    });
  });
  const prompts = () => useStore.getState().prompts;

  it("adds, changes, deletes and brings back", async () => {
    const user = userEvent.setup();
    render(<PromptsPage />);
    await user.click(screen.getByTestId("add-prompt"));
    expect(screen.getByTestId("save-prompt").getAttribute("aria-disabled")).toBe("true");
    await user.type(screen.getByTestId("prompt-name"), " Owl ");
    await user.type(screen.getByTestId("prompt-text"), "Be an owl.");
    await user.click(screen.getByTestId("save-prompt"));
    expect(prompts().at(-1)).toEqual({ name: "Owl", description: "", text: "Be an owl." });

    await user.click(screen.getAllByTestId("edit-prompt")[1] as HTMLElement);
    await user.type(screen.getByTestId("prompt-description"), "!");
    await user.click(screen.getByTestId("save-prompt"));
    expect(prompts()[1]).toEqual({ ...STORY, description: "For the evening!" });

    const before = prompts();
    await user.click(screen.getAllByTestId("delete-prompt")[0] as HTMLElement);
    expect(prompts()).toEqual(before.slice(1));
    await user.click(screen.getByTestId("restore-prompt"));
    expect(prompts()).toEqual(before);
  });

  it("has examples to begin with", async () => {
    useStore.setState({ prompts: [] });
    const user = userEvent.setup();
    render(<PromptsPage />);
    await user.click(screen.getByTestId("add-examples"));
    expect(prompts()).toEqual(examples());
    expect(screen.queryByTestId("add-examples")).toBe(null);
  });
});
