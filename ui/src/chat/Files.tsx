import { memo, useMemo, useState } from "react";
import type { Attachment } from "../bridge/bindings";
import { t } from "../language/text";
import { Icon } from "../primitives/icons";
import { dropPendingFiles } from "./attaching";
import { costLabel, leftOut } from "./attachments";
import { passagesOf } from "./longFiles";
import { useFileTokens } from "./useTokens";
import type { PendingFiles } from "./view";

const NONE: PendingFiles[] = [];
const WHOLE: Attachment[] = [];

interface Props {
  files: Attachment[];
  /** The tokens of each, as far as they are known. */
  tokens: (number | undefined)[];
  /** Those that are longer than what the model can read: of them the parts that fit the question are. */
  long?: Attachment[];
  /** Those that are being read and come to them. */
  pendingFiles?: PendingFiles[];
  /** Takes one away again; there only before they are sent. */
  onRemove?: (index: number) => void;
}

/** Of more files than this only the first are shown, until the others are asked for: a project may have many. */
const MANY = 6;
const FIRST = 4;

/** Files that went with a message, and what they cost. */
export const Files = memo(function Files({ files }: { files: Attachment[] }) {
  const [all, setAll] = useState(false);
  const shown = useMemo(() => (all || files.length <= MANY ? files : files.slice(0, FIRST)), [all, files]);
  const tokens = useFileTokens(shown);
  const left = files.length - shown.length;
  return (
    <>
      <FileChips files={shown} tokens={tokens} />
      {left > 0 && (
        <button type="button" className="quiet-button" data-testid="more-files" onClick={() => setAll(true)}>
          {t("chat-more-files", { count: left })}
        </button>
      )}
    </>
  );
});

/** Files that go or went with a message, by what each costs. */
export const FileChips = memo(function FileChips({
  files,
  tokens,
  long = WHOLE,
  pendingFiles = NONE,
  onRemove,
}: Props) {
  if (files.length + pendingFiles.length === 0) return null;
  return (
    <ul className="files" aria-label={t("chat-attached")}>
      {files.map((file, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: two files may be the same
        <li key={index} className="file" data-testid="file">
          <Icon name="attach" />
          <span className="file-name">{file.name}</span>
          <span className="file-size numbers">{costLabel(file.text, tokens[index])}</span>
          {long.includes(file) ? (
            <span className="file-size" data-testid="file-long">
              {t("chat-attached.long")}
            </span>
          ) : (
            <Part file={file} />
          )}
          {onRemove && (
            <button
              type="button"
              className="icon-button"
              aria-label={t("chat-attached.take", { name: file.name })}
              title={t("chat-attached.take-title")}
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
            {t("chat-attached.reading")}
          </span>
          <button
            type="button"
            className="icon-button"
            aria-label={t("chat-attached.skip", { name: name ?? "" })}
            title={t("chat-attached.skip-title")}
            onClick={() => dropPendingFiles(id)}
          >
            <Icon name="close" />
          </button>
        </li>
      ))}
    </ul>
  );
});

/** Says that a document was read in part; which part, when it is pointed at. */
function Part({ file }: { file: Attachment }) {
  const said = useMemo(() => {
    const places = passagesOf(file).map(({ place }) => place);
    return places.length > 0 ? places.join("\n") : leftOut(file.text);
  }, [file]);
  if (said === "") return null;
  return (
    <span className="file-size" title={said} data-testid="file-in-part">
      {t("chat-attached.part")}
    </span>
  );
}
