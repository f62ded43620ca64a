import highlight from "highlight.js/lib/core";
import bash from "highlight.js/lib/languages/bash";
import c from "highlight.js/lib/languages/c";
import cpp from "highlight.js/lib/languages/cpp";
import csharp from "highlight.js/lib/languages/csharp";
import css from "highlight.js/lib/languages/css";
import diff from "highlight.js/lib/languages/diff";
import dockerfile from "highlight.js/lib/languages/dockerfile";
import go from "highlight.js/lib/languages/go";
import ini from "highlight.js/lib/languages/ini";
import java from "highlight.js/lib/languages/java";
import javascript from "highlight.js/lib/languages/javascript";
import json from "highlight.js/lib/languages/json";
import kotlin from "highlight.js/lib/languages/kotlin";
import latex from "highlight.js/lib/languages/latex";
import lua from "highlight.js/lib/languages/lua";
import makefile from "highlight.js/lib/languages/makefile";
import markdown from "highlight.js/lib/languages/markdown";
import objectivec from "highlight.js/lib/languages/objectivec";
import php from "highlight.js/lib/languages/php";
import python from "highlight.js/lib/languages/python";
import r from "highlight.js/lib/languages/r";
import ruby from "highlight.js/lib/languages/ruby";
import rust from "highlight.js/lib/languages/rust";
import scala from "highlight.js/lib/languages/scala";
import shell from "highlight.js/lib/languages/shell";
import sql from "highlight.js/lib/languages/sql";
import swift from "highlight.js/lib/languages/swift";
import typescript from "highlight.js/lib/languages/typescript";
import xml from "highlight.js/lib/languages/xml";
import yaml from "highlight.js/lib/languages/yaml";

const languages = {
  bash,
  c,
  cpp,
  csharp,
  css,
  diff,
  dockerfile,
  go,
  ini,
  java,
  javascript,
  json,
  kotlin,
  latex,
  lua,
  makefile,
  markdown,
  objectivec,
  php,
  python,
  r,
  ruby,
  rust,
  scala,
  shell,
  sql,
  swift,
  typescript,
  xml,
  yaml,
};
for (const [name, language] of Object.entries(languages)) highlight.registerLanguage(name, language);

/** What a piece of code is. */
type Kind = "comment" | "keyword" | "string" | "number" | "title" | "type" | "name" | "added" | "removed";

/** A piece of code: what it is, null if nothing that has a colour, and how many characters it has. */
export type Run = readonly [kind: Kind | null, length: number];

/** The kinds of highlight.js that have a colour here, by the first part of their names. */
const KINDS: Record<string, Kind> = {
  comment: "comment",
  quote: "comment",
  keyword: "keyword",
  doctag: "keyword",
  meta: "keyword",
  name: "keyword",
  section: "keyword",
  "selector-tag": "keyword",
  "template-tag": "keyword",
  string: "string",
  regexp: "string",
  link: "string",
  code: "string",
  char: "string",
  number: "number",
  literal: "number",
  symbol: "number",
  bullet: "number",
  title: "title",
  type: "type",
  built_in: "type",
  class: "type",
  attr: "name",
  attribute: "name",
  property: "name",
  variable: "name",
  "template-variable": "name",
  "selector-attr": "name",
  "selector-class": "name",
  "selector-id": "name",
  "selector-pseudo": "name",
  addition: "added",
  deletion: "removed",
};
const MARKUP = /<span class="hljs-([\w-]+)[^"]*">|(<\/span>)|&(?:[a-z]+|#x27);|[^<&]+/g;

/** The pieces of which code in a language consists; null if the language is not known. */
export function runsOf(code: string, language: string): Run[] | null {
  if (!highlight.getLanguage(language)) return null;
  const { value } = highlight.highlight(code, { language, ignoreIllegals: true });
  const runs: [Kind | null, number][] = [];
  const around: (Kind | null)[] = [];
  for (const [text, opened, closed] of value.matchAll(MARKUP)) {
    if (closed) around.pop();
    else if (opened) around.push(KINDS[opened] ?? (opened === "subst" ? null : (around.at(-1) ?? null)));
    else {
      const kind = around.at(-1) ?? null;
      const length = text.startsWith("&") ? 1 : text.length;
      const last = runs.at(-1);
      if (last && last[0] === kind) last[1] += length;
      else runs.push([kind, length]);
    }
  }
  return runs;
}
