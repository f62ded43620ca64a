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
  py: "Python",
  rb: "Ruby",
  rs: "Rust",
  sh: "Shell",
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

/** What people call the language that a model wrote beside the fence of its code. */
export function languageName(written: string): string {
  const word = written.toLowerCase();
  return NAMES[word] ?? (word === "" ? "Text" : word.charAt(0).toUpperCase() + word.slice(1));
}
