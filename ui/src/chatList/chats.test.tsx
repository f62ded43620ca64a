import fc from "fast-check";
import type { ReactElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { afterEach, describe, expect, it } from "vitest";
import type { ChatSettings, ChatSummary, Message, Preset } from "../bridge/bindings";
import { reportOf } from "../bridge/bridge";
import { costLabel, leftOut, likelyTokens, splitFiles, withFiles } from "../chat/attachments";
import { Conversation } from "../chat/Conversation";
import { contextLabel, contextUse } from "../chat/context";
import { FileChips, Files } from "../chat/Files";
import { contentsOf, filesOf, MAX_PASTED_BYTES } from "../chat/pasted";
import { isOwn } from "../chat/presets";
import { Question } from "../chat/Question";
import { chatSummary } from "../chat/samples";
import { Thinking } from "../chat/Thinking";
import { Versions } from "../chat/Versions";
import { EngineBanner } from "../frame/EngineBanner";
import { Note } from "../frame/Note";
import { DEFAULT_CHAT_SETTINGS } from "../state/server";
import { useStore } from "../state/store";
import { ChatRow } from "./ChatRow";
import { Deletions } from "./Deletions";
import { importLabel } from "./files";
import { joinPage, listRows, tagsFrom, withChat } from "./list";
import { Trouble } from "./Trouble";

const initial = useStore.getInitialState();
/** Components that are drawn without a document see the first state of the store. */
const first = { ...initial };
afterEach(() => void Object.assign(initial, first));

function markup(element: ReactElement, state: Partial<typeof initial> = {}): string {
  Object.assign(initial, state);
  return renderToStaticMarkup(element);
}

/** What a person reads of `element`. */
const words = (element: ReactElement, state: Partial<typeof initial> = {}): string =>
  markup(element, state)
    .replace(/<[^>]+>/g, " ")
    .replace(/\s+/g, " ")
    .trim();

const ids = (chats: ChatSummary[]) => chats.map(({ id }) => id);

describe("settings that a preset would replace", () => {
  const generation = { ...initial.settings, max_tokens: 7 };
  const owl: Preset = { id: 3, name: "Owl", system_prompt: "You are an owl.", generation };
  const own = (settings: Partial<ChatSettings>) => isOwn({ ...DEFAULT_CHAT_SETTINGS, ...settings }, [owl]);

  it("are the chat's own where no preset holds them", () => {
    expect(own({ system_prompt: "You are a fox." })).toBe(true);
    expect(own({ generation })).toBe(true);
    expect(own({ ...owl, preset: owl.id, system_prompt: "You are an old owl." })).toBe(true);
    expect(own({ ...owl, preset: owl.id, generation: { ...generation, max_tokens: 8 } })).toBe(true);
    expect(own({ ...owl, preset: owl.id, generation: null })).toBe(true);
    // Its preset was deleted.
    expect(own({ ...owl, preset: 4 })).toBe(true);
  });

  it("are no loss where they are those of a preset, or none", () => {
    expect(own({})).toBe(false);
    expect(own({ system_prompt: " \n" })).toBe(false);
    expect(own({ system_prompt: owl.system_prompt, generation: { ...generation }, preset: owl.id })).toBe(
      false,
    );
  });
});

describe("files that are pasted", () => {
  const pasted = (files: File[], text: string) => ({
    files: files as unknown as FileList,
    getData: (type: string) => (type === "text/plain" ? text : ""),
  });

  it("are attached, and text stays text even where a picture of it comes along", () => {
    const picture = new File(["x"], "image.png");
    expect(filesOf(pasted([picture], ""))).toEqual([picture]);
    expect(filesOf(pasted([picture], "A cell"))).toEqual([]);
    expect(filesOf(pasted([], "words"))).toEqual([]);
  });

  it("are handed over byte for byte, whatever they hold", async () => {
    const check = fc.asyncProperty(fc.uint8Array({ maxLength: 9 }), fc.nat(40_000), async (bytes, zeros) => {
      const whole = new Uint8Array([...bytes, ...new Uint8Array(zeros)]);
      const content = btoa(Array.from(whole, (byte) => String.fromCharCode(byte)).join(""));
      expect(await contentsOf([new File([whole], "notes.bin")])).toEqual([{ name: "notes.bin", content }]);
    });
    await fc.assert(check, { numRuns: 40 });
  });

  it("are refused with a reason where they are too large, or no files", async () => {
    const reason = (...files: Parameters<typeof contentsOf>[0]) =>
      contentsOf(files).then(
        () => "",
        (error) => reportOf(error).message,
      );
    const large = {
      name: "a.pdf",
      size: MAX_PASTED_BYTES + 1,
      arrayBuffer: () => Promise.reject(new Error()),
    };
    expect(await reason(large)).toBe("a.pdf is larger than 32 MB, which is too much to paste.");
    expect(await reason({ ...large, name: "Folder", size: 0 })).toBe("Folder cannot be read.");
    const half = { ...large, size: MAX_PASTED_BYTES / 2 + 1 };
    expect(await reason(half, half)).toBe(
      "These files together are larger than 32 MB, which is too much to paste.",
    );
  });
});

describe("the list of chats", () => {
  const chats = [chatSummary(5, { pinned: true }), chatSummary(9), chatSummary(7), chatSummary(2)];

  it("has a chat that was written in first, after those that are pinned", () => {
    expect(ids(withChat(chats, chatSummary(2, { updated_at: 10 }), null, true))).toEqual([5, 2, 9, 7]);
    expect(ids(withChat(chats, chatSummary(7, { pinned: true }), null, true))).toEqual([7, 5, 9, 2]);
    expect(ids(withChat(chats, chatSummary(5), null, true))).toEqual([9, 7, 5, 2]);
  });

  it("leaves out what comes after the part that is known, and what has not the tag", () => {
    expect(ids(withChat(chats, chatSummary(1), null, true))).toEqual([5, 9, 7, 2, 1]);
    expect(ids(withChat(chats, chatSummary(1), null, false))).toEqual([5, 9, 7, 2]);
    expect(ids(withChat(chats, chatSummary(9), "work", true))).toEqual([5, 7, 2]);
    expect(ids(withChat(chats, chatSummary(9, { tags: ["work"] }), "work", true))).toEqual([5, 9, 7, 2]);
  });

  it("keeps the last of the part that is known when it moves up and stays the last", () => {
    const part = [chatSummary(9), chatSummary(5)];
    expect(ids(withChat(part, chatSummary(5, { updated_at: 8 }), null, false))).toEqual([9, 5]);
    expect(ids(withChat([chatSummary(5)], chatSummary(5, { updated_at: 8 }), null, false))).toEqual([5]);
    const pinned = [chatSummary(9), chatSummary(5, { pinned: true })];
    expect(ids(withChat(pinned, chatSummary(5), null, false))).toEqual([9]);
  });

  it("has each chat once, whatever changes while it is read in parts", () => {
    const numbers = fc.uniqueArray(fc.nat(30), { minLength: 1 });
    fc.assert(
      fc.property(numbers, fc.integer({ min: 1, max: 30 }), fc.array(fc.nat(30)), (all, at, changed) => {
        const whole = [...all].sort((a, b) => b - a).map((id) => chatSummary(id));
        const begun = whole.slice(0, at);
        const more = at < whole.length;
        const moved = changed.reduce(
          (list, id, index) => withChat(list, chatSummary(id, { updated_at: 100 + index }), null, !more),
          begun,
        );
        const joined = joinPage(moved, whole.slice(at));
        expect(new Set(ids(joined)).size).toBe(joined.length);
        expect(new Set(ids(joined))).toEqual(new Set([...all, ...changed]));
      }),
    );
  });

  it("is under headings, each once", () => {
    const now = new Date(2026, 10, 21, 12).getTime();
    const day = 86_400_000;
    const at = (id: number, days: number, pinned = false) =>
      chatSummary(id, { updated_at: now - days * day, pinned });
    const rows = listRows([at(1, 40, true), at(2, 0), at(3, 0), at(4, 1), at(5, 3)], now);
    expect(rows.map((row) => ("heading" in row ? row.heading : "chat" in row && row.chat.id))).toEqual([
      "Pinned",
      1,
      "Today",
      2,
      3,
      "Yesterday",
      4,
      "Last seven days",
      5,
    ]);
  });

  it("says of a chat that a reply is being written, and names its menu", () => {
    const row = markup(<ChatRow chat={chatSummary(1, { title: "Owls" })} current writing stop />);
    expect(row).toContain('aria-label="A reply is being written"');
    expect(row).toContain('aria-current="page"');
    expect(row).toContain("More for “Owls”");
    expect(row).not.toContain("not seen");
    expect(words(<ChatRow chat={chatSummary(1, { title: "" })} current={false} writing={false} stop />)).toBe(
      "Without a name",
    );
  });

  it("says of a chat how a reply ended that nobody has seen", () => {
    const row = (unseen: "written" | "failed" | null, writing = false) =>
      markup(<ChatRow chat={chatSummary(1, { unseen })} current={false} writing={writing} stop />);
    expect(row("written")).toContain('aria-label="A reply that you have not seen"');
    expect(row("failed")).toContain('aria-label="The last reply failed"');
    expect(row(null)).not.toMatch(/-dot/);
    expect(row("failed", true)).not.toContain("failed");
  });

  it("reads tags as they are typed", () => {
    expect(tagsFrom(" work,  two   words,Work, ,")).toEqual(["work", "two words"]);
    expect(tagsFrom("工作，故事、")).toEqual(["工作", "故事"]);
    expect(tagsFrom("")).toEqual([]);
  });
});

describe("the context", () => {
  const of = (used: number, reply = 10) =>
    ({ used, of: 100, reply, nearly: used >= 80, full: used >= 100 }) as const;

  it("says what comes when it fills", () => {
    expect(contextLabel(of(10))).toBe("Nothing is dropped until it is full.");
    expect(contextLabel(of(10, 200))).toBe("Nothing is dropped until it is full.");
    expect(contextLabel(of(85))).toContain("nearly full");
    expect(contextLabel(of(95))).toContain("next reply may end where the context does");
    expect(contextLabel(of(100))).toContain("is full");
  });

  it("is unknown until something was answered", () => {
    expect(contextUse([], null, initial.settings)).toBeNull();
  });
});

describe("attached files", () => {
  const file = fc.record({
    name: fc.stringMatching(/^[a-z .]*[a-z]$/),
    text: fc.string({ unit: fc.constantFrom("a", "`", "\n", " ", "File: x", "é") }),
  });

  it("are found again behind the text, whatever is in them", () => {
    fc.assert(
      fc.property(
        fc.constantFrom("", "Look at this", "a\n\nb ```\nc\n```"),
        fc.array(file),
        (text, files) => {
          expect(splitFiles(withFiles(text, files))).toEqual({ text, files });
        },
      ),
    );
  });

  it("are text where something follows them", () => {
    const message = `${withFiles("See", [{ name: "a.txt", text: "one" }])}\nand more`;
    expect(splitFiles(message)).toEqual({ text: message, files: [] });
  });

  it("say what they cost before they are sent", () => {
    const files = [{ name: "a.txt", text: "word ".repeat(800) }];
    expect(words(<FileChips files={files} tokens={[]} onRemove={() => {}} />)).toContain(
      "a.txt about 1,000 tokens",
    );
    expect(words(<Files files={files} />)).toBe("a.txt about 1,000 tokens");
    expect(costLabel("word", 1234)).toBe("1,234 tokens");
    expect(likelyTokens("猫头鹰")).toBe(2);
  });

  it("say that they were read in part, and which", () => {
    const said = "Only the first 20000 of 20500 rows of the sheet “Owls” were read.";
    const cut = { name: "a.xlsx", text: `## Sheet: Owls\n\n[${said}]\n\n1\n2` };
    expect(leftOut(cut.text)).toBe(said);
    expect(leftOut("A text that quotes [Only the first two were read.] is whole.")).toBe("");
    expect(words(<Files files={[cut]} />)).toMatch(/^a\.xlsx about \d+ tokens in part$/);
  });
});

describe("an import", () => {
  it("says what came in and what was left out", () => {
    const nothing = { chats: 1, messages: 2, left_out: 0, missing_pictures: 0 };
    expect(importLabel(nothing)).toBe("1 chat with 2 messages added.");
    expect(importLabel({ ...nothing, missing_pictures: 2 })).toBe(
      "1 chat with 2 messages added. 2 pictures missing: not in the file, or damaged.",
    );
    expect(importLabel({ chats: 1200, messages: 1, left_out: 1, missing_pictures: 0 })).toBe(
      "1,200 chats with 1 message added. 1 piece without a place here, such as images, left out.",
    );
  });
});

describe("what was deleted", () => {
  it("is counted while any of it can be brought back, presets too", () => {
    const deletion = { id: 1, chat: 2, title: "Owls", message: null, excerpt: "" };
    const preset: Preset = { id: 3, name: "Owl", system_prompt: "", generation: null };
    expect(words(<Deletions />)).toBe("");
    expect(words(<Deletions />, { deletions: [deletion], deletedPresets: [preset] })).toBe("Deleted 2");
    expect(words(<Deletions />, { deletions: [] })).toBe("Deleted 1");
  });
});

describe("chats that are being opened", () => {
  it("are waited for with a reason until they are there", () => {
    expect(words(<Conversation />)).toContain("Your chats are being opened.");
    expect(words(<Conversation />, { opened: true })).not.toContain("being opened");
  });

  it("are the one thing that is said to be waited for, and then the engine is", () => {
    expect(words(<EngineBanner />)).toBe("");
    expect(words(<EngineBanner />, { opened: true })).toBe("The engine is starting.");
  });

  it("are written in while a model is loaded, which says how far it is", () => {
    const engine = { state: "loading" as const, path: "/owl", done: 9.2e9, total: 15.1e9 };
    const models = [{ path: "/owl", name: "owl", built_in: false }];
    expect(words(<EngineBanner />, { opened: true, engine, models, selectedModel: "/owl" })).toBe(
      "Loading owl 9.2 of 15.1 GB You can write already. The message goes off when the model is there.",
    );
  });
});

describe("chats that cannot be opened", () => {
  const error = { code: "chats_corrupt", message: "The chats are damaged.", hint: "Restore." };

  it("are restored from the newest copy, where there is one", () => {
    const backups = [
      { path: "/b1", made_at: new Date(2026, 10, 20, 14, 3).getTime(), bytes: 12_000_000 },
      { path: "/b2", made_at: 0, bytes: 1 },
    ];
    const shown = words(<Trouble trouble={{ error, backups }} />);
    expect(shown).toContain("20 November");
    expect(shown).toContain("12 MB");
    expect(shown).toContain("The chats are damaged");
    expect(words(<Trouble trouble={{ error, backups: [] }} />)).not.toContain("copy");
    const busy = { code: "chats_busy", message: "Another program is using the chats.", hint: "Close it." };
    expect(words(<Trouble trouble={{ error: busy, backups: [] }} />)).toContain("could not be opened");
  });
});

describe("a message", () => {
  const message: Message = {
    id: 2,
    parent: null,
    role: "user",
    text: "Hello",
    pictures: [],
    thinking: "",
    steps: [],
    edited: false,
    status: { state: "finished", reason: "stop" },
    stats: null,
    error: null,
    model: null,
    created_at: 0,
  };

  it("shows which version it is where there are several", () => {
    expect(words(<Versions message={message} />, { versions: { 2: [2] } })).toBe("");
    const first = markup(<Versions message={message} />, { versions: { 2: [2, 5, 7] } });
    expect(first.replace(/<[^>]+>/g, "")).toBe("1 of 3");
    expect(first).toContain("There is no earlier version.");
    expect(first).not.toContain("There is no later version.");
  });

  it("is drawn in pieces where it is a megabyte without a line break", () => {
    const long = markup(<Question message={{ ...message, text: "a".repeat(1 << 20) }} />);
    expect(long).toContain('class="question long"');
    expect(long.match(/<div>a+<\/div>/g)).toHaveLength(256);
    expect(markup(<Question message={message} />)).toContain('class="question"');
  });

  it("is a field while it is edited, and says that nothing is lost", () => {
    const edited = markup(<Question message={message} />, { editing: 2, opened: true });
    expect(edited).toContain('data-text="Hello"');
    expect(edited).toContain("The earlier version is kept.");
  });

  it("can be answered at once only while the model thinks", () => {
    const thinking = (running: boolean, cut = false) => (
      <Thinking
        message={2}
        text="Hm"
        runs={null}
        running={running}
        unfinished={false}
        since={null}
        seconds={1}
        cut={cut}
      />
    );
    expect(words(thinking(true))).toBe("Thinking… Answer now");
    expect(words(thinking(false))).toBe("Thought for 1 s");
    expect(words(thinking(false, true))).toBe("Thought for 1 s, up to its limit");
  });

  it("that was deleted can be brought back", () => {
    expect(words(<Note />)).toBe("");
    const note = { text: "The message was deleted.", undo: async () => {} };
    expect(words(<Note />, { note })).toBe("The message was deleted. Undo");
  });
});
