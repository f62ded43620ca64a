import { renderToStaticMarkup } from "react-dom/server";
import { describe, expect, it } from "vitest";
import { PlainText } from "../reveal/RevealedText";
import type { Reading } from "../state/server";
import { ReadingLine, readingLabel } from "./LiveLine";
import { Numbers } from "./StatsPopover";
import { replyStats } from "./samples";

const reading = (more: Partial<Reading> = {}): Reading => ({
  done: 12_480,
  total: 18_902,
  cached: 6144,
  first: { done: 6144, at: 1000 },
  ...more,
});

describe("the line under a reply whose prompt is read", () => {
  it("says what is read, what was cached, how fast, and how long it will take", () => {
    expect(readingLabel(reading(), 7000)).toBe(
      "reading 12,480 of 18,902 · 6,144 cached · 1.1k tok/s · 6.1 s left",
    );
  });

  it("says no more than it knows", () => {
    expect(readingLabel(reading(), 1400)).toBe("reading 12,480 of 18,902 · 6,144 cached");
    expect(readingLabel(reading({ done: 6144 }), 9000)).toBe("reading 6,144 of 18,902 · 6,144 cached");
    const slow = reading({ done: 60, total: 60, cached: 0, first: { done: 0, at: 0 } });
    expect(readingLabel(slow, 10_000)).toBe("reading 60 of 60 · 6.0 tok/s");
  });

  it("has a bar", () => {
    const line = renderToStaticMarkup(<ReadingLine reading={reading()} now={0} />);
    expect(line).toContain('max="18902"');
    expect(line).toContain('value="12480"');
  });
});

describe("the numbers of a reply", () => {
  const shown = (more: Parameters<typeof replyStats>[0]) =>
    renderToStaticMarkup(<Numbers stats={replyStats(more)} model="demo" />);

  it("have a sentence for every chart", () => {
    const charts = shown({}).match(/role="img"[^>]*/g) ?? [];
    expect(charts.map((chart) => /aria-label="([^"]+)"/.exec(chart)?.[1])).toEqual([
      "Position 1: 330 of 412 drafts accepted, 80 percent.",
      "Position 2: 50 of 100 drafts accepted, 50 percent.",
      "Drafts per pass over 412 passes: 1.0 at the beginning, 1.2 at the end, between 1.0 and 1.4.",
      "Decoding took 12 s: draft 1.0 s, verify 9.0 s, sample 500 ms, other 1.5 s.",
    ]);
  });

  it("draw the depth as steps", () => {
    expect(shown({ depth: { steps_per_entry: 1, depths: [0, 2, 1] } })).toContain('d="M0 20H1V0H2V10H3"');
    expect(shown({ depth: { steps_per_entry: 1, depths: [0, 0] } })).not.toContain("depth-line");
  });

  it("say a depth that stays the same once", () => {
    const depth = (depths: number[]) => shown({ depth: { steps_per_entry: 1, depths } });
    expect(depth([3, 3])).toContain(">3.0</span>");
    expect(depth([3, 1, 3])).toContain(">3.0 to 3.0</span>");
    expect(depth([3, 2])).toContain(">3.0 to 2.0</span>");
  });

  it("tell thinking and answer apart where there are both", () => {
    const thinking = { emitted: 500, steps: 250, drafted: 300, accepted: 250, seconds: 4 };
    const table = /<table.*<\/table>/.exec(shown({ thinking }))?.[0] ?? "";
    const rows = table.split("<tr>").map((row) =>
      row
        .replace(/<[^>]+>/g, " ")
        .replace(/ +/g, " ")
        .trim(),
    );
    expect(rows.slice(2)).toEqual(["Thinking 500 250 2.0 83 %", "Answer 242 162 1.5 61 %"]);
    expect(shown({})).not.toContain("<table");
  });

  it("claim a gain only where there is something to compare with", () => {
    expect(shown({})).not.toContain("×");
    const gained = shown({ plain: { tokens_per_second: 32, source: "tune", measured_at: 0 } });
    expect(gained).toContain("1.8×");
    expect(gained).toContain("58 against 32 tok/s");
  });

  it("say what the reply was made with", () => {
    const looked_up = { drafted: 40, accepted: 31 };
    const words = shown({ seed: 77, shared_steps: 3, looked_up }).replace(/<[^>]+>/g, " ");
    for (const said of [
      "greedy",
      "77",
      "Foretoken 0.1.0",
      "3 of 412 passes",
      "752 tokens",
      "31 of 40 accepted",
    ])
      expect(words).toContain(said);
    expect(shown({})).not.toContain("from the text");
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
