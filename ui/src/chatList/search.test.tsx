// @vitest-environment happy-dom
import { act, cleanup, fireEvent, render, screen, within } from "@testing-library/react";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { FoundChat, SearchCounts, SnippetPart } from "../bridge/bindings";
import { shell } from "../bridge/bridge";
import { openedChat } from "../chat/samples";
import { setView, useStore } from "../state/store";
import { filterSearch, openHit, searchChats } from "./actions";
import { filterChoices, firstPlace, foundLabel } from "./places";
import { SearchField } from "./SearchField";
import { SearchResults } from "./SearchResults";
import type { Hits } from "./view";

const initial = useStore.getState();
beforeEach(() => useStore.setState(initial, true));
afterEach(() => {
  cleanup();
  vi.restoreAllMocks();
  vi.useRealTimers();
});

const plain = (text: string): SnippetPart[] => [{ text, matched: false }];
const marked = (before: string, word: string): SnippetPart[] => [
  { text: before, matched: false },
  { text: word, matched: true },
];

const NOW = new Date(2026, 10, 25, 12).getTime();
const day = (days: number) => NOW - days * 86_400_000;

const watering: FoundChat = {
  chat: 1,
  title: plain("A watering plan"),
  titled: false,
  updated_at: day(1),
  messages: [{ message: 10, snippet: marked("… in the evening when ", "frost") }],
  places: 1,
};
const nights: FoundChat = {
  chat: 2,
  title: marked("Cold nights, ", "frost"),
  titled: true,
  updated_at: day(0.1),
  messages: [
    { message: 20, snippet: marked("It was not ", "frost") },
    { message: 22, snippet: marked("three degrees of ", "frost") },
  ],
  places: 5,
};

const COUNTS: SearchCounts = { all: 8, pinned: 0, week: 6, tags: [{ name: "Garden", places: 6 }] };

const hits = (more: Partial<Hits> = {}): Hits => ({
  query: "frost",
  filter: { kind: "all" },
  chats: [watering, nights],
  places: 8,
  counts: COUNTS,
  capped: false,
  searched: null,
  ...more,
});

function show(found: Hits) {
  vi.useFakeTimers({ now: NOW, toFake: ["Date"] });
  setView({ query: found.query, hits: found });
  render(
    <>
      <SearchField />
      <SearchResults />
    </>,
  );
}

/** What a place says, with what is marked in brackets. */
const says = (element: Element): string =>
  [...element.childNodes]
    .map((node) =>
      node.nodeName === "MARK"
        ? `[${node.textContent}]`
        : node instanceof Text
          ? node.data
          : says(node as Element),
    )
    .join("");

describe("what a search has found", () => {
  it("stands by chat, each place with its match marked", () => {
    show(hits());
    const chats = screen.getAllByTestId("found-chat");
    expect(chats.map(says)).toEqual([
      "A watering planTue… in the evening when [frost]",
      "Cold nights, [frost]09:36It was not [frost]three degrees of [frost]2 more places in this chat",
    ]);
    expect(
      within(chats[1] as HTMLElement)
        .getByRole("list")
        .getAttribute("aria-label"),
    ).toBe("Places in “Cold nights, frost”");
    expect(screen.getAllByTestId("hit")).toHaveLength(4);
    expect(screen.getByText(/more places in other chats/).textContent).toBe(
      "There are 2 more places in other chats. Add a word to narrow it down.",
    );
  });

  it("is counted in places, also by each filter", () => {
    show(hits());
    expect(screen.getByRole("status").textContent).toBe("8 places found, in 2 chats");
    const filters = within(screen.getByRole("radiogroup", { name: "Places to show" }));
    expect(filters.getAllByRole("radio").map((radio) => radio.textContent)).toEqual([
      "All 8 places",
      "This week 6 places",
      "Garden 6 places",
    ]);
    expect(filters.getByRole("radio", { checked: true }).textContent).toBe("All 8 places");
  });

  it("is said to be more where not all was counted", () => {
    const capped = hits({ capped: true, places: 2000, counts: { ...COUNTS, all: 2000 } });
    show(capped);
    expect(foundLabel(capped)).toBe("2,000 and more places found, in 2 chats");
    expect(screen.getAllByRole("radio")[0]?.textContent).toBe("All 2,000+ places");
    expect(screen.getByText(/narrow it down/).textContent).toContain("Only the newest 2,000 matches");
  });

  it("is said to be nothing, with what was looked through", () => {
    const nothing = { chats: [], places: 0, counts: { all: 0, pinned: 0, week: 0, tags: [] } };
    show(hits({ ...nothing, query: "permafrost", searched: { messages: 1284, files: 36 } }));
    expect(screen.getByText("No chat has “permafrost”")).toBeTruthy();
    expect(screen.getByText("1,284 messages and 36 files were searched.")).toBeTruthy();
    expect(screen.queryByRole("radiogroup")).toBeNull();
    cleanup();
    show(hits({ ...nothing, searched: { messages: 1, files: 0 } }));
    expect(screen.getByText("1 message was searched.")).toBeTruthy();
    cleanup();
    show(hits({ chats: [], places: 0, filter: { kind: "tag", name: "Work" } }));
    expect(screen.getByText("No chat with the tag Work has “frost”")).toBeTruthy();
    expect(screen.queryByText(/searched/)).toBeNull();
  });

  it("has first what Enter opens", () => {
    expect(firstPlace(hits())).toEqual({ chat: 1, message: 10 });
    expect(firstPlace(hits({ chats: [nights] }))).toEqual({ chat: 2, message: null });
    expect(firstPlace(hits({ chats: [] }))).toBeNull();
  });

  it("keeps the filter that is chosen, also where it leaves nothing", () => {
    const chosen = { kind: "tag", name: "Work" } as const;
    const names = filterChoices(COUNTS, chosen).map(({ name, places }) => `${name} ${places}`);
    expect(names).toEqual(["All 8", "This week 6", "Garden 6", "Work 0"]);
    expect(filterChoices(COUNTS, { kind: "pinned" }).map(({ name }) => name)).toContain("Pinned");
  });
});

describe("the keys of a search", () => {
  const press = (key: string) => fireEvent.keyDown(document.activeElement as Element, { key });

  it("move over the places, also from chat to chat, and back into the field", () => {
    show(hits());
    screen.getByTestId("chat-search").focus();
    const places = screen.getAllByTestId("hit");
    for (const place of places) {
      press("ArrowDown");
      expect(document.activeElement).toBe(place);
    }
    press("ArrowDown");
    expect(document.activeElement).toBe(places[3]);
    for (const place of places.toReversed()) {
      expect(document.activeElement).toBe(place);
      press("ArrowUp");
    }
    expect(document.activeElement).toBe(screen.getByTestId("chat-search"));
  });

  it("leave what is marked in the chat first, then the search", () => {
    vi.spyOn(shell, "searchChats").mockReturnValue(new Promise(() => {}));
    show(hits());
    const find = { chat: 2, query: "frost", current: { message: 20, thought: false, nth: 0 }, field: false };
    for (const start of ["chat-search", "hit"]) {
      act(() => useStore.setState({ query: "frost", hits: hits(), chat: 2, find }));
      screen.getAllByTestId(start)[0]?.focus();
      act(() => void press("Escape"));
      expect([useStore.getState().find, useStore.getState().query]).toEqual([null, "frost"]);
      act(() => void press("Escape"));
      expect(useStore.getState().query).toBe("");
    }
  });
});

describe("a search", () => {
  it("is made again with another filter, and the last of several counts", async () => {
    const { query: _, filter: __, ...results } = hits();
    const asked = vi.spyOn(shell, "searchChats").mockImplementation(async () => results);
    await searchChats("frost");
    await filterSearch({ kind: "pinned" });
    expect(useStore.getState().hits?.filter).toEqual({ kind: "pinned" });
    const first = searchChats("frosts");
    searchChats("frosty");
    searchChats("frosty night");
    await first;
    expect(asked.mock.calls.map(([query, { filter }]) => `${query} ${filter.kind}`)).toEqual([
      "frost all",
      "frost pinned",
      "frosts pinned",
      "frosty night pinned",
    ]);
    await searchChats("");
    expect([useStore.getState().hits, useStore.getState().searchFilter.kind]).toEqual([null, "all"]);
  });

  it("leads to the message, and marks there what was looked for", async () => {
    vi.spyOn(shell, "showMessage").mockResolvedValue(openedChat(2));
    setView({ query: "frost" });
    await openHit(2, 22);
    expect(useStore.getState().find).toEqual({
      chat: 2,
      query: "frost",
      current: { message: 22, thought: false, nth: 0 },
      field: false,
    });
  });
});
