import { memo, useId } from "react";
import { ErrorNote } from "../frame/ErrorNote";
import { RichText } from "../language/RichText";
import { t } from "../language/text";
import { count } from "../primitives/format";
import type { Difference } from "./useDifference";
import { VisibleText } from "./VisibleText";
import { visible } from "./visible";

/** What a call would change in a file, line by line; in its place why that cannot be told. */
export function CallChange({ difference: { now, last, error, again } }: { difference: Difference }) {
  const id = useId();
  if (error)
    return (
      <ErrorNote
        error={error}
        testId="call-change-failed"
        actions={
          <button type="button" className="button" data-testid="call-change-again" onClick={again}>
            {t("call-change.again")}
          </button>
        }
      />
    );
  const shown = now ?? last;
  if (shown === null) return <p className="call-none">{t("call-change.waits")}</p>;
  const { creates, added, removed, text } = shown;
  const path = visible(shown.path);
  const parts = {
    code: (path: string) => (
      <code>
        <VisibleText text={path} />
      </code>
    ),
  };
  return (
    <div className={now ? "call-change" : "call-change outdated"} data-testid="call-change" aria-busy={!now}>
      <p id={id} className="call-change-name">
        <span>
          {creates ? (
            <RichText id="call-change.creates" args={{ path }} parts={parts} />
          ) : (
            <RichText id="call-change.changes" args={{ path }} parts={parts} />
          )}
        </span>
        <span className="numbers">
          <span className="added">+{count(added)}</span> <span className="removed">−{count(removed)}</span>
        </span>
      </p>
      {text === "" ? (
        <p className="call-none">{t("call-change.none")}</p>
      ) : (
        // biome-ignore lint/a11y/useSemanticElements: a fieldset is for input, and a section would be a landmark
        <pre
          className="call-text difference"
          role="group"
          aria-labelledby={id}
          data-testid="difference"
          // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable with the keyboard
          tabIndex={0}
        >
          <Lines text={text} />
        </pre>
      )}
    </div>
  );
}

/** The lines of a unified difference. Its first two name the file, which is said above. */
const Lines = memo(function Lines({ text }: { text: string }) {
  const lines = text.replace(/\n$/, "").split("\n");
  return lines.slice(lines[0]?.startsWith("--- ") ? 2 : 0).map((line, at) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the lines of a difference stay in their order
    <Line key={at} line={line} />
  ));
});

function Line({ line }: { line: string }) {
  const sign = line[0] ?? " ";
  const kind = KINDS[sign];
  if (kind === undefined) return <span className="difference-place">{placed(line)}</span>;
  return (
    <span className={kind}>
      <span className="sign-of-line">{sign === "-" ? "−" : sign}</span>
      <bdi>
        <VisibleText text={line.slice(1)} />
      </bdi>
    </span>
  );
}

/** What a unified difference notes beside the lines of a file: where those behind stand, and how the last one ends. */
function placed(line: string): string {
  const [before, after] = /^@@ -(\d+)\S* \+(\d+)/.exec(line)?.slice(1).map(Number) ?? [];
  if (before === undefined) return t("call-change.no-end");
  return t("call-change.line", { line: after || before });
}

const KINDS: Readonly<Record<string, string>> = { "+": "added", "-": "removed", " ": "kept" };
