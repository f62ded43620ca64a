import { memo } from "react";
import type { Attachment } from "../bridge/bindings";
import { Icon } from "../primitives/icons";
import { dropPendingFiles } from "./attaching";
import { costLabel } from "./attachments";
import { useFileTokens } from "./useTokens";
import type { PendingFiles } from "./view";

const NONE: PendingFiles[] = [];

interface Props {
  files: Attachment[];
  /** Those that are being read and come to them. */
  pendingFiles?: PendingFiles[];
  /** Takes one away again; there only before they are sent. */
  onRemove?: (index: number) => void;
}

/** Files that go or went with a message, and what they cost. */
export const Files = memo(function Files({ files, pendingFiles = NONE, onRemove }: Props) {
  const tokens = useFileTokens(files);
  if (files.length + pendingFiles.length === 0) return null;
  return (
    <ul className="files" aria-label="Attached files">
      {files.map(({ name, text }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: two files may be the same
        <li key={index} className="file" data-testid="file">
          <Icon name="attach" />
          <span className="file-name">{name}</span>
          <span className="file-size numbers">{costLabel(text, tokens[index])}</span>
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
      {pendingFiles.map(({ id, name }) => (
        <li key={`arriving ${id}`} className="file arriving" data-testid="file-arriving">
          <Icon name="attach" />
          <span className="file-name">{name}</span>
          <span className="file-size" role="status">
            being read
          </span>
          <button
            type="button"
            className="icon-button"
            aria-label={`Do not wait for ${name}`}
            title="Do not wait for it"
            onClick={() => dropPendingFiles(id)}
          >
            <Icon name="close" />
          </button>
        </li>
      ))}
    </ul>
  );
});
