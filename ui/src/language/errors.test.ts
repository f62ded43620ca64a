import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { FluentParser } from "@fluent/syntax";
import { expect, test } from "vitest";

/** Codes that no page shows. */
const UNSEEN = [
  // The page went elsewhere before this came, and says nothing of it.
  ["left"],
  // Only programs of the local API send forms of an answer, biases of tokens, what stands behind a gap, and tools that
  // nobody has looked at: those of a chat go only to a model that takes them.
  [
    "calls_unknown",
    "form_of_resumed_reply",
    "grammar_failed",
    "invalid_grammar",
    "invalid_tools",
    "no_fill_in",
  ],
  ["no_tools", "template_with_other_calls", "template_without_tools", "thinking_unknown", "unknown_tool"],
  ["unknown_biased_token"],
  // Only who types the engine's commands gives them such arguments, and plans of conversions.
  ["bad_target", "budget_too_small", "invalid_importance", "invalid_option", "invalid_plan"],
  ["plan_does_not_fit", "plan_of_another_source"],
  // What the store is to keep as JSON was written by a serialiser.
  ["not_json"],
  // Only the model reads why a built-in tool gives no result: such errors go into results as text, not as reports.
  [
    "tool_calculator_impossible",
    "tool_calculator_large",
    "tool_calculator_size",
    "tool_calculator_syntax",
    "tool_date_date",
    "tool_date_time_zone",
    "tool_file_arguments",
    "tool_file_changed",
    "tool_file_edit",
    "tool_file_failed",
    "tool_file_folder",
    "tool_file_kind",
    "tool_file_link",
    "tool_file_missing",
    "tool_file_not_text",
    "tool_file_path",
    "tool_file_read_only",
    "tool_file_too_large",
  ],
  // Files of models are copied between Macs by the command line alone so far.
  ["file_beyond", "file_unknown", "lender_copies", "mac_file_unreadable", "peer_cut_short", "peer_file"],
  ["peer_file_changed", "peer_file_in_use", "peer_hash_differs"],
].flat();

/** Tests, what only the makers run, and the HTTP API, whose codes are for programs. */
const OTHERS = /(?:^|\/)tests\/|(?:tests|testing)\.rs$|^crates\/(?:api|test-hub|test-mcp|xtask)\//;
const ROOT = join(import.meta.dirname, "../../../src-tauri");

/** All sources whose errors reach the app, each up to its tests. */
const RUST = ["src", "crates"]
  .flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true }).map((file) => `${folder}/${file}`),
  )
  .filter((file) => file.endsWith(".rs") && !OTHERS.test(file))
  .map((file) => readFileSync(join(ROOT, file), "utf8").split(/#\[cfg\(test\)\]\n(?:pub\S* )?mod \w+ \{/)[0])
  .join("\n");

const CODE = '"([a-z0-9]+(?:_[a-z0-9]+)*)"';
const NAME = "[A-Z0-9_]{2,}";
/** A report's field: `code: "…"`. */
const FIELD = `\\bcode: ${CODE}`;
/** Before what is wrong or what to do: `=> ("…", "Try again.")`, `refuse("…", message)`. */
const WORDS = `"[A-Z]|${NAME}[,)]|[A-Z]\\w*::|&?format!|message|report\\.`;
const PAIR = `(?:=>\\s*\\{?|\\{|\\breport|\\brefuse)\\s*\\(\\s*${CODE},\\s*(?:${WORDS})`;
/** The body of `fn code`. */
const BODY = "\\bfn code\\(&?self\\)[^{]*\\{(.*?)\\n {4}\\}";
/** Where a constant is a code: `code: if hung { HUNG } else { STOPPED }`, `=> (TOO_LARGE, "Leave some out.")`. */
const USE = `(?:\\bcode: |\\(\\s*(?=${NAME},\\s*"[A-Z]))([^\\n,]*)`;

/** What stands in the group of a form, wherever it occurs. */
const all = (form: string, text = RUST): string[] =>
  [...text.matchAll(new RegExp(form, "gs"))].map(([, found]) => found ?? "");

const used = [...all(USE), ...all(BODY)].flatMap(
  (text) => text.match(new RegExp(`\\b${NAME}\\b`, "g")) ?? [],
);
const CODES = new Set([
  ...[FIELD, PAIR].flatMap((form) => all(form)),
  ...all(BODY).flatMap((body) => all(CODE, body)),
  ...[...new Set(used)].flatMap((name) => all(`\\bconst ${name}: &str =\\s*${CODE};`)),
]);

test.each(["de", "zh", "ja"])("each error has a text and a hint in %s, and nothing else has", (language) => {
  const file = readFileSync(join(import.meta.dirname, `locales/${language}/errors.ftl`), "utf8");
  const said = new FluentParser().parse(file).body.flatMap((entry) => {
    if (entry.type === "Junk") throw new Error(entry.content);
    if (entry.type !== "Message") return [];
    const name = entry.id.name;
    return [...(entry.value ? [name] : []), ...entry.attributes.map(({ id }) => `${name}.${id.name}`)];
  });
  const seen = [...CODES].filter((code) => !UNSEEN.includes(code));
  const names = seen.map((code) => `error-${code.replaceAll("_", "-")}`);
  expect(said.sort()).toEqual(names.flatMap((name) => [name, `${name}.hint`]).sort());
});

test("what no page shows is still made", () => {
  expect(UNSEEN.filter((code) => !CODES.has(code))).toEqual([]);
});
