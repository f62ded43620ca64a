import { formulaAt, mayBecomeFormula, openFormula } from "./formulas";

/**
 * A last line of which nobody can tell yet what it will be: the beginning of a list item, a heading, a rule, a fence.
 */
const UNDECIDED_LINE =
  /(?:^|\n)[ \t>]*(?:\|[|: \t-]*|(?:[-*+]|\d{1,9}[.)]|#{1,6}|=+|-+|_+|`+|~+|[*_-](?:[ \t]*[*_-])+)[ \t]*)$/;
const LINE_START = /^[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?|#{1,6}[ \t]+)?/;
const OPEN_LINK = /!?\[([^[\]\n]*)\]\([^()\n]*$/;
const WORD = /[\p{L}\p{N}]/u;

/**
 * The tail of a text that is still being written, as it is best shown now: open marks are closed, and what would be
 * shown as one thing and turn into another is held back.
 */
export function settle(tail: string): string {
  const formula = openFormula(tail);
  const before = formula < 0 ? tail : tail.slice(0, formula);
  const decided = holdBackTable(before.replace(UNDECIDED_LINE, ""));
  const start = lastInlineRun(decided);
  return decided.slice(0, start) + closeMarks(decided.slice(start));
}

/** A table is shown from its first row on, not as a line of bars that turns into a table. */
function holdBackTable(text: string): string {
  const start = text.lastIndexOf("\n\n") + 1;
  const lines = text.slice(start).replace(/^\n/, "").split("\n");
  if (!/^ {0,3}\|/.test(lines[0] ?? "")) return text;
  const waiting = lines.length === 1 || (lines.length === 2 && /^[ |:-]*$/.test(lines[1] ?? ""));
  const complete =
    lines.length === 2 && (lines[1] ?? "").length > 2 && (lines[1] ?? "").trimEnd().endsWith("|");
  return waiting && !complete ? text.slice(0, start) : text;
}

/** Where the last paragraph, item, heading or cell begins: marks do not reach over its border. */
function lastInlineRun(text: string): number {
  let start = text.lastIndexOf("\n\n") + 1;
  for (let line = text.lastIndexOf("\n"); line > start; line = text.lastIndexOf("\n", line - 1)) {
    const marker = LINE_START.exec(text.slice(line + 1, line + 64))?.[0] ?? "";
    if (/\S/.test(marker) || text[line + 1] === "|") {
      start = line + 1;
      break;
    }
  }
  const line = text.slice(start);
  if (/^\n?\|/.test(line)) return start + line.lastIndexOf("|") + 1;
  return start + (LINE_START.exec(line)?.[0].length ?? 0);
}

function closeMarks(run: string): string {
  const open: string[] = [];
  let i = 0;
  while (i < run.length) {
    const char = run[i] as string;
    if (char === "$" || char === "\\") {
      const formula = formulaAt(run, i);
      if (!formula && mayBecomeFormula(run, i)) return close(run.slice(0, i), open);
      i += formula?.raw.length ?? (char === "$" ? 1 : 2);
      continue;
    }
    if (!"`*_~".includes(char)) {
      i += 1;
      continue;
    }
    let end = i + 1;
    while (run[end] === char) end += 1;
    const marks = run.slice(i, end);
    if (char === "`") {
      const close = closingTicks(run, end, marks.length);
      if (close < 0) return closeTicks(run, i, marks, open);
      i = close;
      continue;
    }
    toggle(open, marks, run[i - 1], run[end]);
    i = end;
  }
  const link = OPEN_LINK.exec(run);
  return close(link ? run.slice(0, link.index) + link[1] : run, open);
}

function closingTicks(run: string, from: number, length: number): number {
  for (const ticks of run.slice(from).matchAll(/`+/g)) {
    if (ticks[0].length === length) return from + ticks.index + length;
  }
  return -1;
}

function closeTicks(run: string, start: number, ticks: string, open: string[]): string {
  const code = run.slice(start + ticks.length).replace(/`+$/, "");
  return code.trim() === ""
    ? close(run.slice(0, start), open)
    : close(run.slice(0, start) + ticks + code + ticks, open);
}

function toggle(open: string[], marks: string, before: string | undefined, after: string | undefined): void {
  if (marks === "~") return;
  const char = marks.charAt(0);
  const kinds = char === "~" ? ["~~"] : marks.length >= 3 ? [char + char, char] : [marks];
  for (const kind of kinds) {
    const at = open.lastIndexOf(kind);
    if (at >= 0 && before !== undefined && !/\s/.test(before)) open.splice(at, 1);
    else if ((after === undefined || !/\s/.test(after)) && !WORD.test(before ?? " ")) open.push(kind);
  }
}

function close(run: string, open: string[]): string {
  let text = run;
  const marks = [...open];
  // Marks with nothing behind them yet, or half of a closing pair, are not shown.
  for (let last = marks.at(-1); last !== undefined; last = marks.at(-1)) {
    if (text.endsWith(last)) {
      text = text.slice(0, -last.length);
      marks.pop();
      continue;
    }
    break;
  }
  const last = marks.at(-1);
  if (last?.length === 2 && text.endsWith(last[0] as string)) text = text.slice(0, -1);
  if (marks.length === 0) return text;
  return text.trimEnd() + marks.reverse().join("");
}
