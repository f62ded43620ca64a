import { useState } from "react";
import { shell } from "../bridge/bridge";
import { VisibleText } from "../chat/VisibleText";
import { ErrorNote } from "../frame/ErrorNote";
import { t } from "../language/text";
import { useDeed } from "./useDeed";

/** The last lines that a server's program has written beside its answers, for whoever asks for them. */
export function ServerLines({ slug }: { slug: string }) {
  const [lines, setLines] = useState<string | null>(null);
  const { error, run } = useDeed();
  const read = () => run(async () => setLines(await shell.toolServerErrors(slug)));
  return (
    <section className="server-part" aria-label={t("settings-server-lines")}>
      <button type="button" className="button" data-testid="read-lines" onClick={read}>
        {t(lines === null ? "settings-server-lines.show" : "settings-server-lines.again")}
      </button>
      {error && <ErrorNote error={error} testId="lines-failed" />}
      {lines === "" && (
        <p className="setting-words" role="status">
          {t("settings-server-lines.none")}
        </p>
      )}
      {lines && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable with the keyboard
        <pre className="server-lines" tabIndex={0} translate="no" data-testid="server-lines">
          <VisibleText text={lines} />
        </pre>
      )}
    </section>
  );
}
