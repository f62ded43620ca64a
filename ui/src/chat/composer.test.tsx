// @vitest-environment happy-dom
import { cleanup, fireEvent, render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type Attached, type Blindness, MESSAGE_PICTURES, type Message } from "../bridge/bindings";
import { shell } from "../bridge/bridge";
import { isCovered } from "../frame/escape";
import { reserveInputMethodKeys } from "../frame/inputMethods";
import { library, local, modelInfo } from "../models/samples";
import type { LiveReply } from "../state/server";
import { type State, useStore } from "../state/store";
import { send } from "./actions";
import { attachDropped, setDetail } from "./attaching";
import { Composer } from "./Composer";
import { saveDrafts, setFiles, setPictures } from "./drafts";
import { blindness } from "./pictures";
import { Question } from "./Question";
import { picture } from "./samples";

const initial = useStore.getInitialState();
const sent: string[] = [];
const NOTHING: Attached = { files: [], pictures: [], notes: [] };

beforeEach(() => {
  useStore.setState({ ...initial, opened: true }, true);
  sent.length = 0;
  vi.spyOn(shell, "setDraftText").mockResolvedValue(null);
  vi.spyOn(shell, "setDraftFiles").mockResolvedValue(null);
  vi.spyOn(shell, "setDraftPictures").mockResolvedValue(null);
  vi.spyOn(shell, "pictureView").mockResolvedValue("data:image/png;base64,");
  vi.spyOn(shell, "send").mockImplementation(async (_to, text, shown, replies) => {
    sent.push(text, ...shown.map(({ name }) => name));
    replies.begun({ chat: 5, messages: [] });
  });
});
afterEach(() => {
  cleanup();
  document.body.replaceChildren();
  vi.restoreAllMocks();
});

/** What is said of a model that sees no pictures. */
function blindnessOf(reason: Blindness): string | null {
  return blindness(modelInfo("/m", { pictures: { state: "unavailable", reason } }));
}

/** The composer as it stands in the window, where input methods have their keys to themselves. */
function open() {
  const user = userEvent.setup();
  const root = document.body.appendChild(document.createElement("div"));
  reserveInputMethodKeys(root);
  render(<Composer />, { container: root.appendChild(document.createElement("div")) });
  const field = screen.getByTestId<HTMLTextAreaElement>("composer");
  return { user, field, button: () => screen.getByTestId("send") };
}

function answeredByBlindModel(): void {
  const model = modelInfo("/m", { pictures: { state: "unavailable", reason: { kind: "left_out" } } });
  useStore.setState({ engine: { state: "ready", model, device: "cpu" } as State["engine"] });
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
    let read = (_: Attached) => {};
    vi.spyOn(shell, "attachDropped").mockReturnValue(new Promise((resolve) => (read = resolve)));
    const { user, button } = open();
    await user.keyboard("What is it?");
    const attached = attachDropped(["/story.txt"]);
    expect((await screen.findByTestId("file-arriving")).textContent).toContain("story.txt");
    await user.keyboard("{Enter}");
    await user.click(button());
    expect([sent, button().title]).toEqual([[], "A file is still being read."]);

    read({ ...NOTHING, files: [{ name: "story.txt", text: "Hoo." }] });
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
      .mockResolvedValue({ ...NOTHING, files: [{ name: "owl.txt", text: "Hoo." }] });
    const { user, field } = open();
    await user.paste("Hello");
    expect(field.value).toBe("Hello");
    const clipboardData = { files: [new File(["Hoo."], "owl.txt")], getData: () => "" };
    fireEvent.paste(field, { clipboardData });
    expect((await screen.findByTestId("file")).textContent).toContain("owl.txt");
    expect(attachPasted).toHaveBeenCalledWith(null, [{ name: "owl.txt", content: btoa("Hoo.") }]);
    expect(field.value).toBe("Hello");
  });
});

describe("pictures of the next message", () => {
  const owl = picture("owl.png");

  it("stand above the text with what they cost, and go with it", async () => {
    setPictures(null, () => [owl, picture("bell.jpg", { tokens: 64 })]);
    const { user, button } = open();
    expect(screen.getAllByTestId("picture").map(({ textContent }) => textContent)).toEqual([
      "owl.png1,008 tokens",
      "bell.jpg64 tokens",
    ]);
    expect((await screen.findByAltText("owl.png")).getAttribute("src")).toMatch(/^data:/);
    await user.click(screen.getByLabelText("Take owl.png away"));
    await user.keyboard("What is it?");
    await user.click(button());
    expect(sent).toEqual(["What is it?", "bell.jpg"]);
    await vi.waitFor(() => expect(screen.queryByTestId("picture")).toBe(null));
  });

  it("are enough to send", async () => {
    setPictures(null, () => [owl]);
    const { user, button } = open();
    await user.click(button());
    expect(sent).toEqual(["", "owl.png"]);
  });

  it("are seen in the detail that is chosen", async () => {
    setPictures(null, () => [owl]);
    const seen = vi
      .spyOn(shell, "pictureInDetail")
      .mockImplementation(async (one, detail) => ({ ...one, detail, tokens: 4000 }));
    const { user } = open();
    await user.click(screen.getByTestId("picture-detail"));
    await user.click(await screen.findByText(/^High/));
    await vi.waitFor(() => expect(screen.getByTestId("picture").textContent).toContain("4,000 tokens"));
    expect(seen.mock.calls).toEqual([[owl, "high"]]);
  });

  it("open large, one after the other", async () => {
    setPictures(null, () => [owl, picture("bell.jpg")]);
    const { user } = open();
    await user.click(screen.getByLabelText("Open owl.png"));
    const large = await screen.findByTestId("large-picture");
    expect(large.textContent).toContain("owl.png");
    expect(large.textContent).toContain("1 of 2");
    await user.keyboard("{ArrowRight}");
    expect(screen.getByTestId("large-picture").textContent).toContain("bell.jpg");
    await user.keyboard("{ArrowRight}{ArrowRight}");
    expect(screen.getByTestId("large-picture").textContent).toContain("2 of 2");
    expect(isCovered(), "Escape is left to it").toBe(true);
    await user.keyboard("{Escape}");
    await vi.waitFor(() => expect(screen.queryByTestId("large-picture")).toBe(null));
  });

  it("are named to a model that cannot see, which is said with a way out", async () => {
    setPictures(null, () => [owl]);
    answeredByBlindModel();
    const { user } = open();
    const note = screen.getByTestId("pictures-note");
    expect(note.textContent).toMatch(/cannot see pictures.*Its vision tower was left out/);
    await user.click(screen.getByTestId("attach"));
    const entry = await screen.findByText("Pictures");
    expect(entry.getAttribute("aria-disabled")).toBe("true");
    expect(entry.textContent).toContain("Its vision tower was left out");
    await user.click(screen.getByText("Get a model that sees pictures"));
    expect(useStore.getState().screen).toBe("models");
  });

  it("are not seen for a reason that is said with its figures", () => {
    const error = { code: "unsupported_config", message: "It has odd sizes.", hint: "Choose another one." };
    expect(blindnessOf({ kind: "unusable", error })).toBe(
      "Its vision tower cannot be used: It has odd sizes. Choose another one.",
    );
    expect(blindnessOf({ kind: "too_little_memory", needed: 21.4e9, available: 12e9 })).toContain(
      "with a picture it would need 21.4 GB, and models may take 12.0 GB here.",
    );
    expect(blindnessOf({ kind: "text_alone" })).toBe("This model reads text alone.");
    expect(blindness(null)).toBeNull();
  });

  it("lead to the model of the library that sees them and was used last", async () => {
    const sees = { sight: "sees" } as const;
    const models = [
      local("/blind", { last_used: 9 }),
      local("/older", { ...sees, last_used: 3 }),
      local("/newer", { ...sees, last_used: 4 }),
      local("/large", { sight: "no_memory", last_used: 7 }),
      local("/gone", { ...sees, last_used: 8, state: { state: "offline" } }),
    ];
    useStore.setState({ library: library({ models }) });
    answeredByBlindModel();
    setPictures(null, () => [owl]);
    const opened = vi.spyOn(shell, "openModel").mockResolvedValue(modelInfo("/newer"));
    const { user } = open();
    await user.click(screen.getByText("Use newer"));
    expect(opened).toHaveBeenCalledWith("/newer");
  });

  it("are no more than go with one message", async () => {
    const some = Array.from({ length: MESSAGE_PICTURES }, () => owl);
    setPictures(null, () => some);
    vi.spyOn(shell, "attachDropped").mockResolvedValue({ ...NOTHING, pictures: [owl] });
    await attachDropped(["/owl.png"]);
    expect(useStore.getState().actionError?.code).toBe("pictures_too_many");
    expect(useStore.getState().pictures.new).toHaveLength(MESSAGE_PICTURES);
  });

  it("that were sent are gone, whatever detail was chosen meanwhile", async () => {
    setPictures(null, () => [owl, picture("bell.jpg")]);
    vi.spyOn(shell, "pictureInDetail").mockImplementation(async (one, detail) => ({ ...one, detail }));
    const sending = send("What is it?", [], [owl]);
    await setDetail(0, "high");
    await sending;
    expect(useStore.getState().pictures.new?.map(({ name }) => name)).toEqual(["bell.jpg"]);
  });
});

describe("pictures of an edited message", () => {
  const question: Message = {
    id: 3,
    parent: null,
    role: "user",
    text: "What is it?",
    pictures: [picture("owl.png")],
    thinking: "",
    steps: [],
    edited: false,
    status: { state: "finished", reason: "stop" },
    stats: null,
    error: null,
    model: null,
    created_at: 0,
  };
  const form = () => {
    vi.spyOn(shell, "setEdit").mockResolvedValue(null);
    useStore.setState({ editing: 3 });
    return render(<Question message={question} />);
  };

  it("stay as they were changed until the edit is sent or given up", async () => {
    const user = userEvent.setup();
    const more = { ...NOTHING, pictures: [picture("bell.jpg")], notes: ["bell.jpg: A note."] };
    vi.spyOn(shell, "chooseAttachments").mockResolvedValue(more);
    const first = form();
    await user.click(screen.getByTestId("edit-pictures"));
    await vi.waitFor(() => expect(screen.getAllByTestId("picture")).toHaveLength(2));
    expect(useStore.getState().note?.text).toBe("bell.jpg: A note.");
    await user.click(screen.getByLabelText("Take owl.png away"));
    expect(document.activeElement).toBe(screen.getByTestId("edit-text"));
    // As where the list has scrolled it away.
    first.unmount();
    form();
    expect(screen.getAllByTestId("picture").map(({ textContent }) => textContent)).toEqual([
      "bell.jpg1,008 tokens",
    ]);
    await saveDrafts();
    expect(shell.setEdit).toHaveBeenLastCalledWith(3, {
      text: "What is it?",
      pictures: [picture("bell.jpg")],
    });
    await user.click(screen.getByTestId("cancel-edit"));
    expect(useStore.getState().edits).toEqual({ 3: null });
  });

  it("are waited for once they are chosen", async () => {
    const user = userEvent.setup();
    vi.spyOn(shell, "chooseAttachments").mockImplementation((_chat, _pictures, onChosen) => {
      onChosen(["bell.jpg"]);
      return new Promise(() => {});
    });
    form();
    await user.click(screen.getByTestId("edit-pictures"));
    expect(screen.getByTestId("send-edit").title).toBe("A picture is still being read.");
  });
});
