import fc from "fast-check";
import type { ReactElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { describe, expect, it } from "vitest";
import type { PlainSpeed } from "../bridge/bindings";
import { PlainText } from "../reveal/RevealedText";
import type { Reading } from "../state/server";
import { useStore } from "../state/store";
import { FinishedLine } from "./FinishedLine";
import { ReadingLine, readingParts } from "./LiveLine";
import { PassPicture, places } from "./PassPicture";
import { Pulse } from "./Pulse";
import { Folds } from "./ReplyPage";
import { replyStats } from "./samples";
import { speedStory } from "./story";

const reading = (more: Partial<Reading> = {}): Reading => ({
  done: 12_480,
  total: 18_902,
  cached: 6144,
  looked: null,
  first: { done: 6144, at: 1000 },
  ...more,
});

describe("the line under a reply whose prompt is read", () => {
  it("says what is read, what was remembered, how fast, and how long it will take", () => {
    expect(readingParts(reading(), 7000)).toEqual({
      read: "Reading 12,480 of 18,902",
      remembered: "6,144 remembered",
      pace: ["1,056 tok/s", "6 s left"],
    });
    const slow = reading({ done: 7144, first: { done: 6144, at: 0 } });
    expect(readingParts(slow, 10_000).pace).toEqual(["100 tok/s", "1 min 57 s left"]);
  });

  it("says no more than it knows", () => {
    const known = (more: Partial<Reading>, now: number) => {
      const { read, remembered, pace } = readingParts(reading(more), now);
      return [read, remembered, ...pace];
    };
    expect(known({}, 1400)).toEqual(["Reading 12,480 of 18,902", "6,144 remembered"]);
    expect(known({ done: 6144 }, 9000)).toEqual(["Reading 6,144 of 18,902", "6,144 remembered"]);
    const all = { done: 60, total: 60, cached: 0, looked: null, first: { done: 0, at: 0 } };
    expect(known(all, 10_000)).toEqual(["Reading 60 of 60", null, "6.0 tok/s"]);
  });

  it("says how far its pictures are while the model looks at them", () => {
    const line = (more: Partial<Reading>, pictures: number) =>
      renderToStaticMarkup(<ReadingLine reading={reading(more)} now={0} pictures={pictures} />);
    const looked = { done: 6, total: 24 };
    expect(line({ looked }, 1)).toContain("Looking at the picture<");
    expect(line({ looked }, 2)).toContain("Looking at 2 pictures<");
    expect(line({ looked }, 0)).toContain("Looking at earlier pictures again<");
    expect(line({ looked }, 1)).toMatch(/aria-valuenow="6" aria-valuemax="24".*width:0%.*width:25%/);
    expect(line({}, 2)).toContain("Reading 12,480 of 18,902");
  });

  it("has a bar, with what was remembered apart from what was read", () => {
    const line = renderToStaticMarkup(<ReadingLine reading={reading({ total: 24_960 })} now={0} />);
    expect(line).toMatch(/role="progressbar".*aria-valuenow="12480" aria-valuemax="24960"/);
    const widths = [...line.matchAll(/width:([\d.]+)%/g)].map(([, width]) => Number(width));
    expect(widths.map(Math.round)).toEqual([25, 25]);
  });
});

/** What `element` shows, with these lines of the panel open. */
function shown(element: ReactElement, ...open: string[]): string {
  const page = useStore.getInitialState();
  const open_folds = Object.fromEntries(open.map((fold) => [fold, true]));
  Object.assign(page, { preferences: { ...page.preferences, open_folds } });
  return renderToStaticMarkup(element);
}

describe("the numbers of a reply", () => {
  const ALL = ["speed", "guesses", "parts", "time", "prompt", "memory", "settings"];
  const folds = (more: Parameters<typeof replyStats>[0], open = ALL) =>
    shown(<Folds stats={replyStats(more)} model="demo" />, ...open);

  it("have a sentence for every chart", () => {
    const charts = folds({}).match(/role="img"[^>]*/g) ?? [];
    expect(charts.map((chart) => /aria-label="([^"]+)"/.exec(chart)?.[1])).toEqual([
      "Drafts per pass over 412 passes: 1.0 at the beginning, 1.2 at the end, between 1.0 and 1.4.",
      "Position 1: 330 of 412 drafts accepted, 80 percent.",
      "Position 2: 50 of 100 drafts accepted, 50 percent.",
      "Decoding took 12 s: draft 1.0 s, verify 9.0 s, sample 500 ms, other 1.5 s.",
    ]);
  });

  it("are one line each until somebody asks for more", () => {
    const closed = folds({}, [])
      .replace(/<[^>]+>/g, " ")
      .replace(/\s+/g, " ");
    expect(closed.trim()).toBe(
      "Speed as it went on 58 tok/s Guesses, by place 74 % accepted Where the time went 12 s The prompt 10 tokens Memory 0 kB Settings of this reply Greedy",
    );
  });

  it("tell the speed of thinking and answer apart, unless others were written beside them", () => {
    const thinking = { emitted: 342, steps: 200, drafted: 200, accepted: 142, seconds: 4, cut: false };
    const words = (more: Parameters<typeof replyStats>[0]) =>
      folds({ thinking, ...more }, ["speed"])
        .replace(/<[^>]+>/g, " ")
        .replace(/\s+/g, " ");
    expect(words({})).toContain("While it thought 86 tok/s While it answered 50 tok/s");
    expect(words({ shared_steps: 1 })).not.toContain("While it");
  });

  it("draw the depth as steps", () => {
    expect(folds({ depth: { steps_per_entry: 1, depths: [0, 2, 1] } })).toContain('d="M0 20H1V0H2V10H3"');
    expect(folds({ depth: { steps_per_entry: 1, depths: [0, 0] } })).not.toContain("depth-line");
  });

  it("say a depth that stays the same once", () => {
    const depth = (depths: number[]) => folds({ depth: { steps_per_entry: 1, depths } });
    expect(depth([3, 3])).toContain(">3.0</span>");
    expect(depth([3, 1, 3])).toContain(">3.0 to 3.0</span>");
    expect(depth([3, 2])).toContain(">3.0 to 2.0</span>");
  });

  it("tell thinking and answer apart where there are both", () => {
    const thinking = { emitted: 500, steps: 250, drafted: 300, accepted: 250, seconds: 4, cut: false };
    const table = /<table.*<\/table>/.exec(folds({ thinking }))?.[0] ?? "";
    const rows = table.split("<tr>").map((row) =>
      row
        .replace(/<[^>]+>/g, " ")
        .replace(/ +/g, " ")
        .trim(),
    );
    expect(rows.slice(2)).toEqual(["Thinking 500 250 2.0 83 %", "Answer 242 162 1.5 61 %"]);
    expect(folds({})).not.toContain("<table");
  });

  it("say what its pictures took", () => {
    const seen = { pictures: 1, picture_tokens: 1008, tower_seconds: 0.6 };
    expect(folds(seen)).toContain("1 picture, 1,008 tokens, seen in 600 ms");
    const again = { pictures: 2, picture_tokens: 2016 };
    expect(folds(again)).toContain("2 pictures, 2,016 tokens, remembered");
    expect(folds({})).not.toContain("Pictures");
    const line = (more: Parameters<typeof replyStats>[0]) =>
      renderToStaticMarkup(<FinishedLine message={2} stats={replyStats(more)} />);
    expect(line(seen)).toContain("1 picture, 1,008 tokens, seen in 600 ms");
    expect(line(again)).not.toContain("picture");
  });

  it("say how many pictures they did not see", () => {
    const none = { no_sight: 0, no_room: 0, missing: 0, undecoded: 0 };
    const line = (more: Partial<typeof none>) =>
      renderToStaticMarkup(<FinishedLine message={2} stats={replyStats({ unseen: { ...none, ...more } })} />);
    expect(line({ no_sight: 1 })).toContain("1 picture not seen: the model reads text alone<");
    expect(line({ no_room: 2, undecoded: 1 })).toContain(
      "3 pictures not seen: no room in the context (2), file cannot be read (1)<",
    );
    expect(line({})).not.toContain("not seen");
  });

  it("say what the reply was made with", () => {
    const looked_up = { drafted: 40, accepted: 31 };
    const words = folds({ seed: 77, shared_steps: 3, looked_up }).replace(/<[^>]+>/g, " ");
    for (const said of [
      "greedy",
      "77",
      "Foretoken 0.1.0",
      "3 of 412 passes",
      "752 tokens",
      "31 of 40 accepted",
    ])
      expect(words).toContain(said);
    expect(folds({})).not.toContain("from the text");
  });
});

describe("what guessing did for a reply", () => {
  const plain = (tokens_per_second: number): PlainSpeed => ({
    tokens_per_second,
    source: "replies",
    measured_at: 0,
  });
  const story = (more: Parameters<typeof replyStats>[0]) => speedStory(replyStats(more));

  it("is a gain, a loss or neither, and only where plain decoding was measured", () => {
    expect(story({}).sentence).toBe("Each pass wrote 1.8 words (tokens).");
    expect(story({}).remedy).toBe("compare");
    expect(story({ tokens_per_pass: 1.02 })).toMatchObject({
      sentence: "Guessing saved almost no passes here.",
      remedy: "auto",
    });
    const gained = story({ plain: plain(32) });
    expect(gained.sentence).toBe("1.8 times as fast as without guessing.");
    expect(gained.why).toContain(
      "Plain decoding wrote 32 tok/s on this computer in replies without guesses.",
    );
    expect(gained.remedy).toBeNull();
    expect(story({ plain: plain(58) }).sentence).toBe("Guessing made no difference here.");
    const lost = story({ plain: plain(70) });
    expect(lost.sentence).toBe("Guessing cost time here: 0.8 times plain.");
    expect(lost.remedy).toBe("auto");
  });

  it("is nothing where nothing was guessed, and why", () => {
    const none = { positions: [], tokens_per_pass: 1 };
    const costly = { kind: "not_paying", drafts: 1, times_as_long: 1.9, times_as_many_tokens: 1.2 } as const;
    expect(story({ ...none, drafting_note: costly })).toMatchObject({
      sentence: "No guesses: they do not pay here.",
      why: expect.stringMatching(/^Drafts do not pay here: .* takes 1\.90 times .* yields 1\.20 times/),
    });
    expect(story({ ...none, drafting_note: { kind: "switched_off" } })).toMatchObject({
      sentence: "Written one word per pass.",
      why: "Drafts were switched off.",
    });
    expect(story(none).sentence).toBe("Written one word per pass.");
  });
});

describe("the picture of a pass", () => {
  const counts = fc
    .tuple(
      fc.integer({ min: 1, max: 5000 }),
      fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 15 }),
    )
    .map(([steps, shares]) => ({
      steps,
      positions: shares.map((share) => ({ drafted: steps, accepted: Math.round(share * steps) })),
    }));

  it("has parts that add up to the tokens of a pass", () => {
    fc.assert(
      fc.property(counts, ({ steps, positions }) => {
        const all = places({ steps, positions });
        const tokens = positions.reduce((sum, { accepted }) => sum + accepted, steps) / steps;
        // Half of a hundredth is rounded up or down, as the parts happen to add up.
        const sum = all.reduce((sum, { hundredths }) => sum + hundredths, 0);
        expect(Math.abs(sum - 100 * tokens)).toBeLessThan(0.5 + 1e-9);
        for (const { stood, hundredths } of all) expect(Math.abs(100 * stood - hundredths)).toBeLessThan(1);
      }),
    );
  });

  it("says the same in a sentence", () => {
    expect(shown(<PassPicture stats={replyStats()} />)).toContain(
      "In an average pass: one word of its own, 0.80 from the 1st guess, 0.12 from the 2nd guess; 1.8 together.",
    );
    expect(shown(<PassPicture stats={replyStats({ positions: [] })} />)).toBe("");
    const block = Array.from({ length: 15 }, (_, place) => ({ drafted: 412, accepted: 412 - 27 * place }));
    const figures = /<p class="pass-figures.*<\/p>/.exec(
      shown(<PassPicture stats={replyStats({ positions: block })} />),
    );
    expect(
      figures?.[0]
        .replace(/<[^>]+>/g, " ")
        .replace(/ +/g, " ")
        .trim(),
    ).toBe("1.00 its own 1.00 1st 0.54 8th 0.08 15th");
  });
});

describe("the pulse", () => {
  const columns = (passes: number[], room: number) =>
    [
      ...renderToStaticMarkup(<Pulse passes={passes} columns={room} />).matchAll(
        /class="(word-\d)" x="(\d+)"/g,
      ),
    ].map(([, word, x]) => `${word} ${x}`);

  it("has a column for each of the newest passes, at the right", () => {
    expect(columns([5, 0, 2], 3)).toEqual([
      ...["word-0 0", "word-1 0", "word-2 0", "word-3 0"],
      "word-0 6",
      ...["word-0 12", "word-1 12", "word-2 12"],
    ]);
    expect(columns([9, 0, 0], 2)).toEqual(["word-0 0", "word-0 6"]);
    expect(columns([0], 3)).toEqual(["word-0 12"]);
  });
});

describe("a text that cannot be marked in place", () => {
  it("shows its pieces by where they came from", () => {
    const text = renderToStaticMarkup(
      <PlainText
        text="An **owl** <b>"
        runs={[
          [3, 0],
          [7, 2],
          [1, 4],
        ]}
      />,
    );
    expect(text).toBe(
      '<p class="plain-text">An <span class="draft-2">**owl**</span><span class="draft-3"> </span>&lt;b&gt;</p>',
    );
  });
});
