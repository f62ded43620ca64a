import { t } from "../language/text";

/** Languages whose names are not their word in small letters with a capital. */
const NAMES: Record<string, string> = {
  "c++": "C++",
  cpp: "C++",
  cs: "C#",
  csharp: "C#",
  css: "CSS",
  html: "HTML",
  javascript: "JavaScript",
  js: "JavaScript",
  json: "JSON",
  jsx: "JSX",
  php: "PHP",
  sql: "SQL",
  svg: "SVG",
  toml: "TOML",
  ts: "TypeScript",
  tsx: "TSX",
  typescript: "TypeScript",
  xml: "XML",
  yaml: "YAML",
  yml: "YAML",
};

/** What is short for a language. */
const SHORT: Record<string, string> = { py: "python", rb: "ruby", rs: "rust", sh: "shell" };

/** What people call the language that a model wrote beside the fence of its code. */
export function languageName(written: string): string {
  const small = written.toLowerCase();
  const word = SHORT[small] ?? small;
  return (
    NAMES[word] ?? (word === "" ? t("markdown-code.plain") : word.charAt(0).toUpperCase() + word.slice(1))
  );
}
