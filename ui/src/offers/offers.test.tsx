// @vitest-environment happy-dom
import { act, cleanup, render, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import {
  ATTACHMENT_FILES,
  type Attached,
  type FilledPrompt,
  type ServerInfo,
  type ServerOffers,
  type ServerPrompt,
} from "../bridge/bindings";
import { ShellError, shell } from "../bridge/bridge";
import { Composer } from "../chat/Composer";
import { moveDraft } from "../chat/drafts";
import { toolServer } from "../chat/samples";
import { NO_TOOLS } from "../state/server";
import { dispatch, setView, useStore } from "../state/store";
import { takePrompt } from "./actions";
import { askServers } from "./offers";
import { PromptCard } from "./PromptCard";
import { ResourceSheet } from "./ResourceSheet";

const initial = useStore.getInitialState();
const state = () => useStore.getState();

const REVIEW: ServerPrompt = {
  name: "review",
  title: "Review a change",
  description: "Looks for mistakes",
  arguments: [
    { name: "change", description: "Its number.", required: true },
    { name: "tone", description: "", required: false },
  ],
};
const WEEKLY: ServerPrompt = { name: "weekly", title: "Weekly report", description: "", arguments: [] };
const BOARD: ServerOffers = {
  slug: "board",
  name: "Board",
  resources: [
    {
      address: "board://open",
      name: "Open issues",
      description: "The newest first",
      media_type: "application/json",
      bytes: 2048,
    },
    { address: "board://guide", name: "Guide", description: "", media_type: null, bytes: null },
  ],
  prompts: [REVIEW, WEEKLY],
  error: null,
};
const NOTES: ServerOffers = {
  slug: "notes",
  name: "Notes",
  resources: [
    { address: "file:///garden.md", name: "garden.md", description: "", media_type: "text/plain", bytes: 12 },
  ],
  prompts: [],
  error: null,
};
const GONE = { code: "server_gone", message: "The server is gone.", hint: "Look at its lines." };
const NOTHING: Attached = { files: [], pictures: [], notes: [] };
const says = (text: string, attached: Attached = NOTHING): FilledPrompt => ({ text, attached });
const file = (name: string) => ({ name, text: "Hoo." });

const server = (slug: string, more: Partial<ServerInfo> = {}) => toolServer({ slug, name: slug, ...more });
const tell = (...servers: ServerInfo[]) =>
  dispatch({ kind: "app", event: { type: "tools", tools: { ...NO_TOOLS, servers } } });

/** What a promise is that the test fulfils. */
function promised<T>() {
  let [resolve, reject]: [(value: T) => void, (error: unknown) => void] = [() => {}, () => {}];
  const promise = new Promise<T>((...ends) => {
    [resolve, reject] = ends;
  });
  return { promise, resolve, reject };
}

const offers = () => vi.spyOn(shell, "serverOffers");
const fill = () => vi.spyOn(shell, "fillServerPrompt");

beforeEach(() => {
  // `scrollIntoView` is there in every browser, but not in this document.
  Element.prototype.scrollIntoView ??= () => {};
  vi.spyOn(shell, "setDraftText").mockResolvedValue(null);
  vi.spyOn(shell, "setDraftFiles").mockResolvedValue(null);
  useStore.setState({ ...initial, opened: true, prompts: [] }, true);
  tell(server("board", { name: "Board" }), server("notes", { name: "Notes" }));
});
afterEach(() => {
  cleanup();
  vi.restoreAllMocks();
  vi.useRealTimers();
});

const field = () => screen.getByTestId("composer") as HTMLTextAreaElement;
const listed = () => screen.queryAllByTestId("prompt").map((prompt) => prompt.textContent);

async function write(keys: string) {
  const user = userEvent.setup();
  render(
    <>
      <PromptCard />
      <Composer />
    </>,
  );
  await user.click(field());
  await user.keyboard(keys);
  return user;
}

describe("servers that are switched on", () => {
  it("are asked what they have once a minute, and sooner where they have changed", async () => {
    vi.useFakeTimers();
    const asked = offers().mockResolvedValue([BOARD]);
    await askServers();
    await askServers();
    expect(asked).toHaveBeenCalledTimes(1);
    vi.advanceTimersByTime(61_000);
    await askServers();
    expect(asked, "a minute later").toHaveBeenCalledTimes(2);
    tell(server("board", { status: { state: "failed", error: GONE } }));
    await askServers();
    expect(asked, "when one has failed").toHaveBeenCalledTimes(3);
    await askServers();
    expect(asked).toHaveBeenCalledTimes(3);
  });

  it("are not asked once more because they were started for it, but are where one was switched on meanwhile", async () => {
    const answer = promised<ServerOffers[]>();
    const asked = offers().mockReturnValueOnce(answer.promise).mockResolvedValue([]);
    tell(server("board", { status: { state: "stopped" } }));
    const done = askServers();
    tell(server("board", { status: { state: "starting" } }));
    await askServers();
    tell(server("board"));
    answer.resolve([BOARD]);
    await done;
    await askServers();
    expect(asked).toHaveBeenCalledTimes(1);
    tell(server("board"), server("notes"));
    await askServers();
    expect(asked).toHaveBeenCalledTimes(2);
  });

  it("are asked again where they could not be asked", async () => {
    const asked = offers().mockRejectedValueOnce(new ShellError(GONE)).mockResolvedValue([BOARD]);
    await askServers();
    expect(state().offersError).toEqual(GONE);
    await askServers();
    expect([state().offersError, state().offers, asked.mock.calls.length]).toEqual([null, [BOARD], 2]);
  });
});

describe("the list of prompts", () => {
  it("has those of servers below the person’s own, which do not wait for them", async () => {
    const answer = promised<ServerOffers[]>();
    const asked = offers().mockReturnValue(answer.promise);
    useStore.setState({ prompts: [{ name: "Tell", description: "A story", text: "Tell a story." }] });
    const user = await write("/");
    expect(listed()).toEqual(["TellA story"]);
    await act(async () => answer.resolve([BOARD]));
    expect(listed()).toEqual(["TellA story", "Review a changeLooks for mistakesBoard", "Weekly reportBoard"]);
    await user.keyboard("re");
    expect(listed()[0], "one that begins so stands first").toContain("Review");
    expect(asked, "not at every key").toHaveBeenCalledTimes(1);
  });

  it("keeps what is chosen where a server tells later what stands before it", async () => {
    const answer = promised<ServerOffers[]>();
    offers().mockReturnValue(answer.promise);
    useStore.setState({
      prompts: [{ name: "My review", description: "", text: "Look at this." }],
    });
    const user = await write("/rev");
    await act(async () => answer.resolve([BOARD]));
    expect(listed().length).toBe(2);
    await user.keyboard("{Enter}");
    expect(field().value).toBe("Look at this.");
  });

  it("says that there are no prompts only where servers have none either, and asks nobody where none is on", async () => {
    const asked = offers().mockResolvedValue([{ ...BOARD, prompts: [] }]);
    await write("/");
    expect(await screen.findByTestId("no-prompts")).toBeTruthy();
    cleanup();
    asked.mockClear();
    useStore.setState({ offers: [BOARD], offersAsked: null, drafts: {} });
    tell(server("board", { enabled: false }));
    await write("/");
    expect(screen.getByTestId("no-prompts")).toBeTruthy();
    expect(asked).not.toHaveBeenCalled();
    cleanup();
    asked.mockResolvedValue([BOARD]);
    useStore.setState({ offersAsked: null, drafts: {} });
    tell(server("board"));
    await write("/");
    await waitFor(() => expect(listed().length).toBe(2));
    expect(screen.queryByTestId("no-prompts")).toBeNull();
  });

  it("hides nothing of what a server says", async () => {
    offers().mockResolvedValue([{ ...BOARD, prompts: [{ ...WEEKLY, title: "a\u202eb" }] }]);
    await write("/");
    await waitFor(() => expect(listed()).toEqual(["a⟨U+202E⟩bBoard"]));
  });
});

describe("a prompt of a server that asks for nothing", () => {
  beforeEach(() => {
    offers().mockResolvedValue([BOARD]);
  });

  it("takes the place of what was typed for it, with its files, and the message waits for it", async () => {
    const answer = promised<FilledPrompt>();
    const filled = fill().mockReturnValue(answer.promise);
    await write("/week{Enter}");
    expect(filled).toHaveBeenCalledWith(null, "board", "weekly", {});
    expect(listed()).toEqual([]);
    expect(screen.getByTestId("send").getAttribute("aria-disabled")).toBe("true");
    expect(screen.getByText("Weekly report")).toBeTruthy();
    await act(async () =>
      answer.resolve(says("Report on {{clipboard}}:", { ...NOTHING, files: [file("w.md")] })),
    );
    expect(field().value).toBe("Report on {{clipboard}}:");
    expect(state().filling, "nothing of it is filled in here").toBe(null);
    expect(screen.getByTestId("file").textContent).toContain("w.md");
    expect(screen.getByTestId("send").getAttribute("aria-disabled")).toBe(null);
  });

  it("comes after what was typed meanwhile", async () => {
    const answer = promised<FilledPrompt>();
    fill().mockReturnValue(answer.promise);
    const user = await write("/week{Enter}");
    await user.clear(field());
    await user.keyboard("About owls:");
    await act(async () => answer.resolve(says("Report.")));
    expect(field().value).toBe("About owls:\n\nReport.");
  });

  it("comes after what was typed for it, if that was written on", async () => {
    const answer = promised<FilledPrompt>();
    fill().mockReturnValue(answer.promise);
    const user = await write("/week{Enter}");
    await user.keyboard(" please");
    await act(async () => answer.resolve(says("Report.")));
    expect(field().value).toBe("/week please\n\nReport.");
  });

  it("goes into the message of the chat that was open, not of the one that is", async () => {
    const answer = promised<FilledPrompt>();
    fill().mockReturnValue(answer.promise);
    useStore.setState({ chat: 5 });
    await write("/week{Enter}");
    act(() => useStore.setState({ chat: 6 }));
    await act(async () => answer.resolve(says("Report.", { ...NOTHING, files: [file("w.md")] })));
    expect([state().drafts["5"], state().drafts["6"]]).toEqual(["Report.", undefined]);
    expect([state().attached["5"]?.length, state().attached["6"]]).toEqual([1, undefined]);
  });

  it("gives way to one that is chosen later", async () => {
    const [first, second] = [promised<FilledPrompt>(), promised<FilledPrompt>()];
    fill().mockReturnValueOnce(first.promise).mockReturnValueOnce(second.promise);
    await write("/week{Enter}");
    act(() => takePrompt({ server: "board", serverName: "Board", prompt: { ...WEEKLY, name: "other" } }));
    await act(async () => second.resolve(says("The other.")));
    await act(async () => first.resolve(says("Report.")));
    expect(field().value).toBe("The other.");
  });

  it("says why it does not come, and can be chosen again", async () => {
    fill().mockRejectedValue(new ShellError(GONE));
    await write("/week{Enter}");
    expect((await screen.findByTestId("action-error")).textContent).toContain("The server is gone.");
    expect(field().value).toBe("/week");
    expect(listed().length).toBe(1);
  });

  it("is not put in by half where its files are too many", async () => {
    useStore.setState({ attached: { new: Array.from({ length: ATTACHMENT_FILES }, () => file("a")) } });
    fill().mockResolvedValue(says("Report.", { ...NOTHING, files: [file("one more")] }));
    await write("/week{Enter}");
    expect(await screen.findByTestId("action-error")).toBeTruthy();
    expect(field().value).toBe("/week");
  });
});

describe("a prompt of a server that asks for something", () => {
  const card = () => screen.queryByTestId("prompt-card");
  const inputs = () => within(screen.getByTestId("prompt-card")).getAllByRole("textbox");

  beforeEach(() => {
    offers().mockResolvedValue([BOARD]);
  });

  it("is filled in on a card, which says what belongs to it", async () => {
    const filled = fill().mockResolvedValue(says("Look at 42."));
    const user = await write("/rev{Enter}");
    const shown = screen.getByRole("form", { name: "Review a change" }).textContent;
    for (const words of ["Board", "Looks for mistakes", "change · required", "Its number.", "tone"])
      expect(shown).toContain(words);
    expect(document.activeElement).toBe(inputs()[0]);
    await user.keyboard("{Enter}");
    expect(filled, "what must be there is still empty").not.toHaveBeenCalled();
    await user.keyboard("42{Enter}");
    expect(filled).toHaveBeenCalledWith(null, "board", "review", { change: "42" });
    await waitFor(() => expect(card()).toBeNull());
    expect(field().value).toBe("Look at 42.");
    await waitFor(() => expect(document.activeElement).toBe(field()));
  });

  it("says so while the server has it, and puts nothing in once it is cancelled", async () => {
    const answer = promised<FilledPrompt>();
    const filled = fill().mockReturnValue(answer.promise);
    const user = await write("/rev{Enter}");
    await user.keyboard("42{Enter}{Enter}");
    expect(filled).toHaveBeenCalledOnce();
    const button = screen.getByTestId("insert-prompt");
    expect([button.textContent, button.getAttribute("aria-disabled")]).toEqual(["Being filled in…", "true"]);
    await user.keyboard("{Escape}");
    expect(card()).toBeNull();
    expect(document.activeElement).toBe(field());
    await act(async () => answer.resolve(says("Look at 42.")));
    expect(field().value).toBe("/rev");
  });

  it("keeps what was filled in where the server refuses, and while another chat is shown", async () => {
    fill().mockRejectedValueOnce(new ShellError(GONE)).mockResolvedValue(says("Look at 42."));
    useStore.setState({ chat: 5 });
    const user = await write("/rev{Enter}");
    await user.keyboard("42{Enter}");
    expect((await screen.findByTestId("action-error")).textContent).toContain("The server is gone.");
    act(() => useStore.setState({ chat: 6 }));
    expect(card()).toBeNull();
    act(() => useStore.setState({ chat: 5 }));
    expect((inputs()[0] as HTMLInputElement).value).toBe("42");
    await user.click(screen.getByTestId("insert-prompt"));
    await waitFor(() => expect(state().drafts["5"]).toBe("Look at 42."));
  });

  it("goes along into the chat that a new one becomes, and into no other", async () => {
    const answer = promised<FilledPrompt>();
    fill().mockReturnValue(answer.promise);
    const user = await write("/rev{Enter}");
    await user.keyboard("42{Enter}");
    act(() => {
      useStore.setState({ chat: 7 });
      moveDraft(7);
    });
    act(() => useStore.setState({ chat: 8 }));
    await act(async () => answer.resolve(says("Look at 42.")));
    expect([state().drafts["7"], state().drafts["8"]]).toEqual(["Look at 42.", undefined]);
  });

  it("leaves with Cancel what was typed for it", async () => {
    const user = await write("/rev{Enter}");
    await user.click(screen.getByTestId("cancel-prompt"));
    expect([card(), field().value]).toEqual([null, "/rev"]);
    expect(document.activeElement).toBe(field());
  });
});

describe("what servers have to read", () => {
  const rows = () => screen.queryAllByTestId("resource").map((row) => row.textContent);
  const chosen = () => screen.getByRole("option", { selected: true }).textContent;

  async function open() {
    const user = userEvent.setup();
    render(
      <>
        <Composer />
        <ResourceSheet />
      </>,
    );
    await user.click(screen.getByTestId("attach"));
    await user.click(await screen.findByRole("menuitem", { name: "From a server…" }));
    await screen.findByTestId("resource-sheet");
    return user;
  }

  it("is offered beside files only while a server is switched on", async () => {
    tell(server("board", { enabled: false }));
    render(<Composer />);
    await userEvent.click(screen.getByTestId("attach"));
    expect(await screen.findByRole("menuitem", { name: "Pictures" })).toBeTruthy();
    expect(screen.queryByRole("menuitem", { name: "From a server…" })).toBeNull();
  });

  it("is listed by server once they have told, and says so until then", async () => {
    const answer = promised<ServerOffers[]>();
    offers().mockReturnValue(answer.promise);
    await open();
    expect(screen.getByTestId("resources-note").textContent).toBe("Asking your servers…");
    const empty = { ...NOTES, slug: "empty", name: "Empty", resources: [] };
    tell(server("board"), server("notes"), server("empty"));
    await act(async () => answer.resolve([BOARD, empty, NOTES]));
    expect(screen.getAllByRole("group").map((group) => group.getAttribute("aria-label"))).toEqual([
      "Board",
      "Notes",
    ]);
    expect(rows()).toEqual([
      "Open issuesapplication/json · 2 kBThe newest first",
      "Guide",
      "garden.mdtext/plain · 1 kB",
    ]);
    expect(screen.queryByTestId("resources-note")).toBeNull();
  });

  it("is attached with the keyboard, and the message waits for it", async () => {
    offers().mockResolvedValue([BOARD, NOTES]);
    const answer = promised<Attached>();
    const attach = vi.spyOn(shell, "attachResource").mockReturnValue(answer.promise);
    const user = await open();
    await waitFor(() => expect(rows().length).toBe(3));
    expect(document.activeElement).toBe(screen.getByTestId("resource-search"));
    await user.keyboard("{ArrowUp}");
    expect(chosen()).toContain("garden.md");
    await user.keyboard("{ArrowDown}{ArrowDown}");
    expect(chosen()).toContain("Guide");
    await user.keyboard("{Enter}");
    expect(attach).toHaveBeenCalledWith(null, "board", "board://guide");
    expect(state().choosingResource).toBe(false);
    expect(screen.getByTestId("send").getAttribute("title")).toBe("A file is still being read.");
    await act(async () => answer.resolve({ ...NOTHING, files: [file("Guide")] }));
    expect(screen.getByTestId("file").textContent).toContain("Guide");
  });

  it("is found by its name, its address and its server", async () => {
    offers().mockResolvedValue([BOARD, NOTES]);
    const attach = vi.spyOn(shell, "attachResource").mockResolvedValue(NOTHING);
    const user = await open();
    await waitFor(() => expect(rows().length).toBe(3));
    await user.keyboard("notes");
    expect(rows().length).toBe(1);
    await user.keyboard(" FILE://");
    expect(rows().length).toBe(1);
    await user.keyboard(" nothing");
    expect(rows()).toEqual([]);
    expect(screen.getByTestId("resources-note").textContent).toBe("Nothing fits.");
    await user.keyboard("{Enter}");
    expect(attach).not.toHaveBeenCalled();
    await user.clear(screen.getByTestId("resource-search"));
    await user.keyboard("open");
    await user.click(screen.getByTestId("resource"));
    expect(attach).toHaveBeenCalledWith(null, "board", "board://open");
  });

  it("says why a server has told nothing, and where there is nothing", async () => {
    offers().mockResolvedValue([{ ...BOARD, resources: [], prompts: [], error: GONE }, NOTES]);
    await open();
    const failed = await screen.findByRole("region", { name: "Board" });
    expect(failed.textContent).toContain("The server is gone.");
    expect(rows().length).toBe(1);
    act(() => setView({ offers: [{ ...BOARD, resources: [] }] }));
    expect(screen.getByTestId("resources-note").textContent).toBe(
      "Your servers have nothing that could be attached.",
    );
    act(() => setView({ offers: [], offersError: GONE }));
    expect(screen.getByTestId("resources-failed").textContent).toContain("The server is gone.");
    expect(screen.queryByTestId("resources-note")).toBeNull();
  });

  it("is left with Escape, and the person writes on", async () => {
    offers().mockResolvedValue([BOARD]);
    const user = await open();
    await user.keyboard("{Escape}");
    await waitFor(() => expect(screen.queryByTestId("resource-sheet")).toBeNull());
    expect(state().choosingResource).toBe(false);
    await waitFor(() => expect(document.activeElement).toBe(field()));
  });
});
