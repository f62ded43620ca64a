import { useMemo, useState } from "react";
import type { Passage } from "../bridge/bindings";
import { t } from "../language/text";
import { Sheet } from "../primitives/Sheet";
import { useStore } from "../state/store";
import { splitFiles } from "./attachments";
import { marked, passagesOf } from "./longFiles";

interface Source extends Passage {
  file: string;
}

/** The passages of long files that a reply was given, each to be read. */
export function Sources({ question }: { question: number | null }) {
  const message = useStore(({ messages }) => messages.find(({ id }) => id === question)?.text ?? "");
  const { text, sources } = useMemo(() => {
    const { text, files } = splitFiles(message);
    const sources = files.flatMap((file) =>
      passagesOf(file).map((passage): Source => ({ ...passage, file: file.name })),
    );
    return { text, sources };
  }, [message]);
  const [open, setOpen] = useState<Source | null>(null);
  if (sources.length === 0) return null;
  return (
    <div className="sources" data-testid="sources">
      <span className="sources-title">{t("reply-sources")}</span>
      <ul>
        {sources.map((source, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: two passages may have one place
          <li key={index}>
            <button
              type="button"
              className="quiet-button"
              data-testid="source"
              onClick={() => setOpen(source)}
            >
              {source.file}: {source.place}
            </button>
          </li>
        ))}
      </ul>
      <Sheet
        open={open !== null}
        onClose={() => setOpen(null)}
        title={open === null ? "" : `${open.file}: ${open.place}`}
        testId="source-sheet"
        foot={
          <button type="button" className="button" onClick={() => setOpen(null)}>
            {t("reply-sources.close")}
          </button>
        }
      >
        {open && <Marked text={open.text} question={text} />}
      </Sheet>
    </div>
  );
}

/** A passage with the words that were asked for marked. */
function Marked({ text, question }: { text: string; question: string }) {
  return (
    <p className="passage">
      {marked(text, question).map((piece, index) =>
        // biome-ignore lint/suspicious/noArrayIndexKey: the pieces do not change
        piece.marked ? <mark key={index}>{piece.text}</mark> : piece.text,
      )}
    </p>
  );
}
