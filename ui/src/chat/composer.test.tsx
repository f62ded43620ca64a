// @vitest-environment happy-dom
import { cleanup, fireEvent, render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Attachment } from "../bridge/bindings";
import { shell } from "../bridge/bridge";
import { reserveInputMethodKeys } from "../frame/inputMethods";
import type { LiveReply } from "../state/server";
import { useStore } from "../state/store";
import { attachDropped } from "./attaching";
import { Composer } from "./Composer";
import { setFiles } from "./drafts";

const initial = useStore.getInitialState();
const sent: string[] = [];

beforeEach(() => {
  useStore.setState({ ...initial, opened: true }, true);
  sent.length = 0;
  vi.spyOn(shell, "setDraftText").mockResolvedValue(null);
  vi.spyOn(shell, "setDraftFiles").mockResolvedValue(null);
  vi.spyOn(shell, "send").mockImplementation(async (_to, text, replies) => {
    sent.push(text);
    replies.begun({ chat: 5, messages: [] });
  });
});
afterEach(() => {
  cleanup();
  document.body.replaceChildren();
  vi.restoreAllMocks();
});

/** The composer as it stands in the window, where input methods have their keys to themselves. */
function open() {
  const user = userEvent.setup();
  const root = document.body.appendChild(document.createElement("div"));
  reserveInputMethodKeys(root);
  render(<Composer />, { container: root.appendChild(document.createElement("div")) });
  const field = screen.getByTestId<HTMLTextAreaElement>("composer");
  return { user, field, button: () => screen.getByTestId("send") };
}

describe("the field for the next message", () => {
  it("has the focus, and sends with Enter what was typed with Shift+Enter between its lines", async () => {
    const { user, field } = open();
    expect(document.activeElement).toBe(field);
    await user.keyboard("Hello{Shift>}{Enter}{/Shift}there");
    expect(sent).toEqual([]);
    await user.keyboard("{Enter}");
    expect(sent).toEqual(["Hello\nthere"]);
    await vi.waitFor(() => expect(field.value).toBe(""));
  });

  it("sends with the button too", async () => {
    const { user, button } = open();
    await user.keyboard("Hello");
    await user.click(button());
    expect(sent).toEqual(["Hello"]);
  });

  it("sends nothing while there is nothing to send, and says so on the button", async () => {
    const { user, field, button } = open();
    await user.keyboard("   {Enter}");
    await user.click(button());
    expect(sent).toEqual([]);
    expect(button().getAttribute("aria-disabled")).toBe("true");
    expect(button().title).toBe("There is no message to send yet.");
    await user.type(field, "Hello");
    expect(button().getAttribute("aria-disabled")).toBe(null);
  });

  it("leaves Enter to an input method until it has written what it composes", async () => {
    const { user, field } = open();
    await user.keyboard("にほん");
    fireEvent.keyDown(field, { key: "Enter", isComposing: true });
    // In WebKit the composition is over when its last key is told.
    fireEvent.keyDown(field, { key: "Enter", keyCode: 229 });
    expect(useStore.getState().sending).toBe(false);
    fireEvent.keyDown(field, { key: "Enter", keyCode: 13 });
    expect(useStore.getState().sending).toBe(true);
    await vi.waitFor(() => expect(sent).toEqual(["にほん"]));
  });

  it("keeps its text where sending fails, and says why until that is dismissed", async () => {
    vi.spyOn(shell, "send").mockRejectedValue(new Error("no"));
    const { user, field } = open();
    await user.keyboard("Hello{Enter}");
    await user.click(await screen.findByText("Dismiss"));
    expect(screen.queryByTestId("action-error")).toBe(null);
    expect(field.value).toBe("Hello");
  });

  it("stops a reply instead of sending while one is written", async () => {
    const stop = vi.spyOn(shell, "stop").mockResolvedValue(null);
    const live: Partial<LiveReply> = { chat: 5 };
    useStore.setState({ chat: 5, live: { 8: live as LiveReply } });
    const { user } = open();
    await user.keyboard("Hello{Enter}");
    expect(screen.queryByTestId("send")).toBe(null);
    await user.click(screen.getByTestId("stop"));
    expect([sent, stop.mock.calls]).toEqual([[], [[8]]]);
  });
});

describe("files of the next message", () => {
  it("hold it while they are read, and go with it then", async () => {
    let read = (_: Attachment[]) => {};
    vi.spyOn(shell, "attachDropped").mockReturnValue(new Promise((resolve) => (read = resolve)));
    const { user, button } = open();
    await user.keyboard("What is it?");
    const attached = attachDropped(["/story.txt"]);
    expect((await screen.findByTestId("file-arriving")).textContent).toContain("story.txt");
    await user.keyboard("{Enter}");
    await user.click(button());
    expect([sent, button().title]).toEqual([[], "A file is still being read."]);

    read([{ name: "story.txt", text: "Hoo." }]);
    await attached;
    await screen.findByTestId("file");
    await user.click(button());
    expect(sent).toEqual(["What is it?\n\nFile: story.txt\n```\nHoo.\n```"]);
    await vi.waitFor(() => expect(screen.queryByTestId("file")).toBe(null));
  });

  it("can be taken away, and no longer be waited for", async () => {
    vi.spyOn(shell, "attachDropped").mockReturnValue(new Promise(() => {}));
    setFiles(null, () => [{ name: "owl.txt", text: "Hoo." }]);
    const { user, button } = open();
    attachDropped(["/story.txt"]);
    await user.click(await screen.findByLabelText("Do not wait for story.txt"));
    expect(screen.queryByTestId("file-arriving")).toBe(null);
    // A file is enough to send.
    expect(button().getAttribute("aria-disabled")).toBe(null);
    await user.click(screen.getByLabelText("Take owl.txt away"));
    expect(screen.queryByTestId("file")).toBe(null);
    expect(button().getAttribute("aria-disabled")).toBe("true");
  });

  it("are attached where files are pasted, and text is typed", async () => {
    const attachPasted = vi
      .spyOn(shell, "attachPasted")
      .mockResolvedValue([{ name: "owl.txt", text: "Hoo." }]);
    const { user, field } = open();
    await user.paste("Hello");
    expect(field.value).toBe("Hello");
    const clipboardData = { files: [new File(["Hoo."], "owl.txt")], getData: () => "" };
    fireEvent.paste(field, { clipboardData });
    expect((await screen.findByTestId("file")).textContent).toContain("owl.txt");
    expect(attachPasted).toHaveBeenCalledWith([{ name: "owl.txt", content: btoa("Hoo.") }]);
    expect(field.value).toBe("Hello");
  });
});
