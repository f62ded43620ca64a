import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Entry, FluentParser, type Message, type Term, Visitor } from "@fluent/syntax";
import { parseSync } from "vite";
import { describe, expect, test } from "vitest";

/** What each language says, by `language/part`. */
const FILES = Object.fromEntries(
  Object.entries(
    import.meta.glob<string>("./locales/*/*.ftl", { eager: true, query: "?raw", import: "default" }),
  ).map(([path, text]) => [path.replace(/^\.\/locales\/|\.ftl$/g, ""), text]),
);
const SOURCES = Object.entries(
  import.meta.glob<string>(
    ["../**/*.{ts,tsx}", "!../**/*.test.*", "!../**/samples.ts", "!../bridge/bindings.ts", "!../language/*"],
    { eager: true, query: "?raw", import: "default" },
  ),
).map(([path, text]) => [path.slice(3), text] as const);
const OTHERS = ["de", "zh", "ja"];
/** Whose names are made from a code. */
const BY_CODE = /^(?:error|action)-/;

const parser = new FluentParser({ withSpans: false });

/** What has to be the same in all languages: what a text is given and which of its words are more than words. */
class Needs extends Visitor {
  found = new Set<string>();
  override visitVariableReference({ id }: { id: { name: string } }) {
    this.found.add(`$${id.name}`);
  }
  override visitTextElement({ value }: { value: string }) {
    for (const [, part] of value.matchAll(/<(\w+)>/g)) this.found.add(`<${part}>`);
  }
}

const isText = (entry: Entry): entry is Message | Term => entry.type === "Message" || entry.type === "Term";

/** The texts of a part in a language, attributes beside them, and what each needs. */
function textsOf(file: string): Map<string, string[]> {
  const texts = new Map<string, string[]>();
  const add = (name: string, pattern: Message["value"]) => {
    const needs = new Needs();
    if (pattern) needs.visit(pattern);
    if (texts.has(name)) throw new Error(`${file} says ${name} twice.`);
    if (pattern) texts.set(name, [...needs.found].sort());
  };
  for (const entry of parser.parse(FILES[file] ?? "").body) {
    if (entry.type === "Junk")
      throw new Error(`${file}: ${entry.annotations[0]?.message} in ${entry.content}`);
    // Terms are a language's own affair.
    if (entry.type !== "Message" || !isText(entry)) continue;
    add(entry.id.name, entry.value);
    for (const attribute of entry.attributes) add(`${entry.id.name}.${attribute.id.name}`, attribute.value);
  }
  return texts;
}

const PARTS = Object.keys(FILES)
  .filter((file) => file.startsWith("en/"))
  .map((file) => file.slice(3));
const ENGLISH = new Map(PARTS.flatMap((part) => [...textsOf(`en/${part}`)]));

describe.each(PARTS)("what is said in %s", (part) => {
  test.each(OTHERS)("is said in %s too, of the same things", (language) => {
    expect(Object.fromEntries(textsOf(`${language}/${part}`))).toEqual(
      Object.fromEntries(textsOf(`en/${part}`)),
    );
  });
});

test("no two parts use one name", () => {
  const names = PARTS.flatMap((part) => [...textsOf(`en/${part}`).keys()]);
  expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([]);
});

// biome-ignore lint/suspicious/noExplicitAny: nodes of any kind are asked for what they may have
type Node = any;

/** What a source says by name, and what it says itself though it is meant for people. */
function readSource(path: string, source: string): { used: string[]; faults: string[] } {
  const { program, errors } = parseSync(path, source);
  if (errors.length > 0) throw new Error(`${path} cannot be read.`);
  const [used, faults]: [string[], string[]] = [[], []];
  const fault = (node: Node, why: string) => {
    const line = source.slice(0, node.start).split("\n").length;
    faults.push(
      `${path}:${line}: ${why}: ${source.slice(node.start, node.end).replace(/\s+/g, " ").slice(0, 90)}`,
    );
  };
  const visit = (node: Node, inFunction: boolean): void => {
    if (Array.isArray(node)) {
      for (const one of node) visit(one, inFunction);
      return;
    }
    if (typeof node?.type !== "string") return;
    if (isNoProse(node)) return;
    // What a case is compared with is not said.
    if (node.type === "SwitchCase") return void visit(node.consequent, inFunction);
    if (node.type === "CallExpression" && ["t", "lookUp"].includes(node.callee.name)) {
      if (!inFunction) fault(node, "is said before there is a language");
      names(node.arguments[0], node.arguments[1]);
      visit(node.arguments.slice(1), inFunction);
      return;
    }
    if (node.type === "JSXOpeningElement" && node.name.name === "RichText")
      for (const { name, value } of node.attributes)
        if (name?.name === "id") names(value.expression ?? value, null);
    const said = saidBy(node);
    if (said !== null && isProse(said, node.type === "JSXText")) fault(node, "has no name");
    const within = inFunction || /Function/.test(node.type) || node.type === "PropertyDefinition";
    for (const [key, child] of Object.entries(node))
      if (
        key !== "parent" &&
        !(node.type === "JSXOpeningElement" && node.name.name === "RichText" && key === "id")
      )
        visit(child, within);
  };
  /** The names of texts may be chosen among, not made. */
  const names = (node: Node, args: Node): void => {
    if (node?.type === "ConditionalExpression") {
      names(node.consequent, args);
      names(node.alternate, args);
    } else if (node?.type === "Literal" && typeof node.value === "string") {
      used.push(node.value);
      const needs = ENGLISH.get(node.value);
      if (!needs) return void fault(node, "is not among the texts");
      if (
        args?.type !== "ObjectExpression" ||
        args.properties.some((one: Node) => one.type === "SpreadElement")
      )
        return;
      const given = args.properties.map(({ key }: Node) => `$${key.name ?? key.value}`);
      for (const need of needs)
        if (need.startsWith("$") && !given.includes(need)) fault(args, `${node.value} needs ${need}`);
    } else if (!(node?.type === "TemplateLiteral" && BY_CODE.test(node.quasis[0].value.cooked)))
      fault(node, "is no name of a text");
  };
  visit(program.body, false);
  return { used, faults };
}

/** What programs read, in which no words are for people. */
function isNoProse({ type, name, key, value, callee, tag }: Node): boolean {
  if (/^(?:Import|TS(?!As|Satisfies|NonNull)|Export(?:All))/.test(type)) return true;
  if (type === "NewExpression")
    // What a ShellError says is shown.
    return /^(?:Error|RegExp)$/.test(callee.name ?? "");
  if (type === "JSXAttribute")
    return /^(?:className|testId|data-.*|d|viewBox|type|role|style|key|points)$/.test(nameOf(name));
  if (type === "TaggedTemplateExpression") return tag.name === "verbatim";
  if (type === "Property") return key.name === "kind" && value.type === "Literal";
  if (type !== "CallExpression") return false;
  return /^(?:querySelector(?:All)?|closest|matches|getElementById|createElement|setAttribute|addEventListener|removeEventListener|startsWith|test|warn|error)$/.test(
    callee.property?.name ?? "",
  );
}

const nameOf = (name: Node): string =>
  name.type === "JSXNamespacedName" ? `${name.namespace.name}:${name.name.name}` : name.name;

/** The words that stand in a node. */
function saidBy({ type, value }: Node): string | null {
  if (type === "Literal" && typeof value === "string") return value;
  if (type === "JSXText") return value;
  return type === "TemplateElement" ? value.cooked : null;
}

/** Whether this is a language's, as two words or one with a capital are. */
function isProse(said: string, shown: boolean): boolean {
  const words = said.trim();
  if (NO_WORDS.has(words)) return false;
  // What style sheets say of screens and fonts.
  if (/^\((?:prefers|min|max)-|^\d+px /.test(words)) return false;
  if (shown) return /\p{L}{2}/u.test(words);
  return (
    /\p{L}{2,}[,.:;…’]* \p{L}+/u.test(words) ||
    /^\p{Lu}\p{Ll}+[ .…:?]*$/u.test(words) ||
    (/[.?!…]$/.test(words) && / /.test(words))
  );
}

/** Names of keys, units of the web and the like. */
const NO_WORDS = new Set([
  "Enter",
  "Escape",
  "Esc",
  "Tab",
  "Backspace",
  "Delete",
  "Home",
  "End",
  "Shift",
  "Control",
  "Alt",
  "Meta",
  "Process",
  "MTP",
  "DFlash",
  "File:",
  "Foretoken",
  "<!doctype html>",
  // What the built-in model was made to answer.
  "Tell me a story about an owl and a bell.",
  "Make a table with four countries and their capitals.",
  "What is multi-token prediction?",
  // What a model reads before the passages of a long file.
  "Parts of this file that fit the question, each with its place:",
  // Languages, by the names that they have for themselves.
  "English",
  "Deutsch",
]);

const READ = SOURCES.map(([path, source]) => [path, readSource(path, source)] as const);
const FOLDERS = [...new Set(READ.map(([path]) => path.split("/")[0] ?? ""))];

test.each(FOLDERS)("the sources of %s say nothing themselves, but by names that there are", (folder) => {
  expect(READ.filter(([path]) => path.split("/")[0] === folder).flatMap(([, { faults }]) => faults)).toEqual(
    [],
  );
});

test("no text is without a use", () => {
  const used = new Set(READ.flatMap(([, { used }]) => used));
  const idle = [...ENGLISH.keys()].filter(
    (name) => !used.has(name) && !BY_CODE.test(name) && !OF_SHELL.has(name),
  );
  expect(idle).toEqual([]);
});

/** What is said outside the page. */
const OF_SHELL = textsOf("en/shell");

test("the shell says what there is to say, and nothing else", () => {
  const folder = join(import.meta.dirname, "../../../src-tauri/src");
  const sources = readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".rs"))
    .map((file) => readFileSync(join(folder, file), "utf8"))
    .join("\n");
  const said = [...sources.matchAll(/\bsay(?:_of)?\(\s*"([\w.-]+)"/g)].map(([, name]) => name ?? "");
  expect(said.filter((name) => !ENGLISH.has(name))).toEqual([]);
  // What belongs to a text, such as its message, may be named by its end alone.
  const names = [...OF_SHELL.keys()].filter((name) => !name.includes("."));
  expect(names.filter((name) => !sources.includes(`"${name}"`))).toEqual([]);
});
