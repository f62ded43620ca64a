import { type ReactNode, useState } from "react";
import { t } from "../language/text";
import { kindOf } from "../preview/kinds";
import { Preview } from "../preview/Preview";
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
  const whole = isWhole(raw);
  const runs = usePieces(text, whole ? name.toLowerCase() : "");
  const kind = whole ? kindOf(name.toLowerCase(), text) : null;
  const [previewed, setPreviewed] = useState(false);
  const shown = previewed ? kind : null;
  return (
    <figure className="code-block" dir="ltr">
      <figcaption>
        <span>{languageName(name)}</span>
        {shown === "html" && <span className="code-note">{t("markdown-code.no-scripts")}</span>}
        <span className="code-actions">
          {kind && (
            <button
              type="button"
              className="quiet-button"
              data-testid="toggle-preview"
              onClick={() => setPreviewed(shown === null)}
            >
              {t(shown ? "markdown-code" : "markdown-code.preview")}
            </button>
          )}
          <CopyButton text={text} label={t("markdown-code.copy")} />
        </span>
      </figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable with the keyboard */}
      <pre tabIndex={0} hidden={shown !== null}>
        <code>{runs ? colored(text, runs) : text}</code>
      </pre>
      {shown && <Preview key={text} kind={shown} text={text} />}
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
