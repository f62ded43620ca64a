import type { ReactNode } from "react";
import { CopyButton } from "../primitives/CopyButton";
import { usePieces } from "./highlight";
import { languageName } from "./languageName";
import type { Tokens } from "./lex";
import type { Run } from "./runs";

const NAME = /^[^\s{]*/;
const FENCE = /^ {0,3}(`{3,}|~{3,})/;

/** Code as it was written. It has its colours once it is whole: they change nothing but the colour. */
export function CodeBlock({ token: { lang = "", raw, text } }: { token: Tokens.Code }) {
  const name = NAME.exec(lang)?.[0] ?? "";
  const runs = usePieces(text, isWhole(raw) ? name.toLowerCase() : "");
  return (
    <figure className="code-block" dir="ltr">
      <figcaption>
        <span>{languageName(name)}</span>
        <CopyButton text={text} label="Copy" />
      </figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable with the keyboard */}
      <pre tabIndex={0}>
        <code>{runs ? colored(text, runs) : text}</code>
      </pre>
    </figure>
  );
}

/** Whether the fence that the block begins with has been closed. */
function isWhole(raw: string): boolean {
  const fence = FENCE.exec(raw)?.[1];
  if (!fence) return false;
  const end = raw.trimEnd();
  const last = end.slice(end.lastIndexOf("\n") + 1).trim();
  return end.includes("\n") && last.startsWith(fence) && last === (fence[0] as string).repeat(last.length);
}

function colored(text: string, runs: readonly Run[]): ReactNode {
  let from = 0;
  return runs.map(([kind, length]) => {
    const piece = text.slice(from, from + length);
    from += length;
    return kind ? (
      <span key={from} className={`code-${kind}`}>
        {piece}
      </span>
    ) : (
      piece
    );
  });
}
