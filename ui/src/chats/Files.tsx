import { memo } from "react";
import type { Attachment } from "../bindings";
import { Icon } from "../components/icons";
import { costWords } from "./attachments";
import { useTokens } from "./useTokens";

interface Props {
  files: Attachment[];
  /** Takes one away again; there only before they are sent. */
  onRemove?: (index: number) => void;
}

/** Files that go or went with a message, and what they cost. */
export const Files = memo(function Files({ files, onRemove }: Props) {
  const tokens = useTokens(files);
  if (files.length === 0) return null;
  return (
    <ul className="files" aria-label="Attached files">
      {files.map(({ name, text }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: two files may be the same
        <li key={index} className="file" data-testid="file">
          <Icon name="attach" />
          <span className="file-name">{name}</span>
          <span className="file-size numbers">{costWords(text, tokens[index])}</span>
          {onRemove && (
            <button
              type="button"
              className="icon-button"
              aria-label={`Take ${name} away`}
              title="Take away"
              onClick={() => onRemove(index)}
            >
              <Icon name="close" />
            </button>
          )}
        </li>
      ))}
    </ul>
  );
});
