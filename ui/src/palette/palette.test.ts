import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { chatSummary } from "../chat/samples";
import { useStore } from "../state/store";
import { commandsOf, entries, offer } from "./entries";
import { formatKeys, keysOf, matches } from "./keys";
import { ranked } from "./ranked";
import { actionName, isAvailable, keysLabel, menuState, TABLE } from "./table";

const plain = { code: "", metaKey: false, ctrlKey: false, altKey: false, shiftKey: false };
const state = useStore.getInitialState();
const action = (id: string) => {
  const found = TABLE.find((one) => one.id === id);
  if (!found) throw new Error(`there is no ${id}`);
  return found;
};

describe("keys", () => {
  it("are ⌘ on a Mac and Ctrl elsewhere", () => {
    const keys = { command: true, control: false, alt: false, shift: false, key: "n" };
    expect(matches(keys, { ...plain, key: "n", metaKey: true }, true)).toBe(true);
    expect(matches(keys, { ...plain, key: "n", ctrlKey: true }, true)).toBe(false);
    expect(matches(keys, { ...plain, key: "n", ctrlKey: true }, false)).toBe(true);
    expect(matches(keys, { ...plain, key: "n", metaKey: true }, false)).toBe(false);
    expect(matches(keys, { ...plain, key: "N", ctrlKey: true, shiftKey: true }, false)).toBe(false);
  });

  it("are heard by their sign, wherever it stands on the keyboard", () => {
    const keys = { command: true, control: false, alt: false, shift: false, key: "+" };
    expect(matches(keys, { ...plain, key: "+", ctrlKey: true, shiftKey: true }, false)).toBe(true);
    expect(matches(keys, { ...plain, key: "+", ctrlKey: true }, false)).toBe(true);
  });

  it("are heard by their place where the layout writes no Latin letters", () => {
    const keys = (key: string) => ({ command: true, control: false, alt: false, shift: false, key });
    const heard = (name: string, key: string, code: string) =>
      matches(keys(name), { ...plain, key, code, ctrlKey: true }, false);
    expect(heard("k", "л", "KeyK"), "Russian").toBe(true);
    expect(heard("k", "κ", "KeyK"), "Greek").toBe(true);
    expect(heard("k", "ל", "KeyK"), "Hebrew").toBe(true);
    expect(heard("b", "لا", "KeyB"), "Arabic, where one key writes two letters").toBe(true);
    expect(heard("k", "า", "KeyK"), "Thai").toBe(true);
    expect(heard(",", "б", "Comma"), "a sign whose key writes a letter").toBe(true);
    expect(heard("n", "л", "KeyK")).toBe(false);
    const shifted = { ...plain, key: "У", code: "KeyE", ctrlKey: true, shiftKey: true };
    expect(matches({ ...keys("e"), shift: true }, shifted, false)).toBe(true);
    expect(matches(keys("e"), shifted, false)).toBe(false);
  });

  it("are heard by what they write on every other layout", () => {
    const keys = (key: string) => ({ command: true, control: false, alt: false, shift: false, key });
    const heard = (name: string, key: string, code: string) =>
      matches(keys(name), { ...plain, key, code, ctrlKey: true }, false);
    expect(heard("q", "q", "KeyA") && heard("w", "w", "KeyZ"), "AZERTY").toBe(true);
    expect(heard("q", "a", "KeyQ") || heard("w", "z", "KeyW"), "AZERTY").toBe(false);
    expect(heard("k", "k", "KeyV"), "Dvorak").toBe(true);
    expect(heard("q", "'", "KeyQ") || heard("w", ",", "KeyW"), "Dvorak").toBe(false);
    expect(heard(",", ",", "KeyW"), "Dvorak").toBe(true);
    expect(heard("n", "ñ", "KeyN") || heard("n", "Enter", "KeyN")).toBe(false);
  });

  it("lead to one action each", () => {
    for (const mac of [true, false]) {
      const all = TABLE.flatMap((one) => [keysOf(one, mac), one.also].filter((keys) => keys !== null));
      const key = fc.constantFrom(...all.map(({ key }) => key), "x", "S", "E");
      const held = fc.record({
        metaKey: fc.boolean(),
        ctrlKey: fc.boolean(),
        altKey: fc.boolean(),
        shiftKey: fc.boolean(),
      });
      fc.assert(
        fc.property(key, held, (key, held) => {
          expect(all.filter((keys) => matches(keys, { ...held, key, code: "" }, mac)).length).toBeLessThan(2);
        }),
      );
    }
  });

  it("are told in menus as the table has them", () => {
    expect([keysLabel("statistics"), keysLabel("reveal_drafts")]).toEqual(["Ctrl+I", "Ctrl+Alt+D"]);
    expect(keysLabel("actual_size")).toBe("Ctrl+0");
  });

  it("are written as each system does", () => {
    const keys = { command: true, control: true, alt: false, shift: true, key: "e" };
    expect(formatKeys(keys, true)).toBe("⌃⇧⌘E");
    expect(formatKeys({ ...keys, control: false }, false)).toBe("Ctrl+Shift+E");
    expect(
      formatKeys({ command: false, control: false, alt: false, shift: false, key: "Escape" }, true),
    ).toBe("Esc");
  });
});

describe("actions", () => {
  it("can be taken when there is something to take them on", () => {
    expect(isAvailable(action("new_chat"), state)).toBe(true);
    for (const id of ["stop", "edit_last", "statistics", "next_chat", "export_chat"])
      expect(isAvailable(action(id), state), id).toBe(false);
    const chats = [chatSummary(1), chatSummary(2)];
    expect(isAvailable(action("next_chat"), { ...state, chats, chat: 1 })).toBe(true);
    expect(isAvailable(action("next_chat"), { ...state, chats, chat: 2 })).toBe(false);
    expect(isAvailable(action("previous_chat"), { ...state, chats, chat: 1 })).toBe(false);
    expect(isAvailable(action("previous_chat"), { ...state, chats, chat: 2 })).toBe(true);
    expect(isAvailable(action("export_chat"), { ...state, chats, chat: 1 })).toBe(true);
  });

  it("are the same in the menu bar and in the palette", () => {
    const chats = [chatSummary(1), chatSummary(2)];
    for (const now of [state, { ...state, chats, chat: 2, screen: "models" as const }]) {
      const offered = commandsOf(now).map(({ id }) => id);
      expect(menuState(now).available.filter((id) => id !== "palette")).toEqual(offered);
    }
    expect(menuState(state).available).not.toContain("stop");
  });

  it("that show or hide are called by what they would do", () => {
    const names = (now: typeof state) => commandsOf(now).map(actionName);
    expect(menuState(state).shown).toEqual(["toggle_sidebar"]);
    expect(names(state)).toContain("Hide the sidebar");
    expect(names(state)).toContain("Show the panel");
    const inspector = { ...state, inspector: true, sidebar: false };
    expect(names(inspector)).toContain("Hide the panel");
    expect(names(inspector)).toContain("Show the sidebar");
    // It is not to be seen there.
    expect(menuState({ ...inspector, screen: "models" }).shown).toEqual([]);
  });

  it("are called in the palette as in the menu bar", () => {
    for (const action of TABLE) {
      const names = [actionName(action)];
      if (action.toggles)
        names.push(actionName({ ...action, does: "show" }), actionName({ ...action, does: "hide" }));
      for (const name of names) expect(name).not.toMatch(/^action-/);
    }
  });

  it("stay the same objects as long as nothing changes", () => {
    const [before, after] = [commandsOf(state), commandsOf({ ...state, questionsSent: 1 })];
    expect(after.every((action, index) => action === before[index])).toBe(true);
  });
});

describe("the palette", () => {
  const chats = [
    chatSummary(1, { title: "Owls and bells" }),
    chatSummary(2, { title: "Settings of a lathe" }),
    chatSummary(3, { title: "Bells" }),
  ];
  const now = { ...state, chats, chat: 2 };
  const names = (query: string, titles: Parameters<typeof entries>[3] = []) =>
    entries(offer(now), commandsOf(now), query, titles, () => false).map(({ name }) => name);

  it("puts what begins with the words first", () => {
    const all = [{ name: "The bell" }, { name: "Bell" }, { name: "A be" }];
    expect(ranked(all, "bell").map(({ name }) => name)).toEqual(["Bell", "The bell"]);
    expect(ranked(all, "").length).toBe(3);
    expect(ranked(all, "BELL the").map(({ name }) => name)).toEqual(["The bell"]);
  });

  it("offers the other chats, commands and settings", () => {
    expect(names("bells")).toEqual(["Bells", "Owls and bells"]);
    expect(names("settings")).toContain("Settings: Appearance");
    expect(names("settings")).not.toContain("Settings of a lathe");
    expect(names("larger")).toEqual(["Larger"]);
    expect(names("no such thing")).toEqual([]);
  });

  it("offers how much to think, and a summary where there is something to summarise", () => {
    expect(names("thinking")).toEqual([
      "Thinking: Off",
      "Thinking: Brief",
      "Thinking: Normal",
      "Thinking: Long",
      "Thinking: Limit",
    ]);
    const summarise = "Summarise the older part of this chat";
    expect(names("summarise")).toEqual([]);
    const status = { state: "finished", reason: "stop" };
    const messages = [
      { role: "user", text: "Hi", status },
      { role: "assistant", text: "Hello", status },
    ] as typeof state.messages;
    const offered = entries(offer({ ...now, messages }), [], "summarise", [], () => false);
    expect(offered.map(({ name }) => name)).toEqual([summarise]);
  });

  const hit = (chat: number, title: string) => ({ chat, title });

  it("offers chats that only the shell knows, each once and in its rank", () => {
    expect(names("bells", [hit(3, "Bells"), hit(9, "Bells of old")])).toEqual([
      "Bells",
      "Bells of old",
      "Owls and bells",
    ]);
  });

  it("leaves out what only an older query has found", () => {
    expect(names("larger", [hit(9, "Lathes")])).toEqual(["Larger"]);
  });
});
