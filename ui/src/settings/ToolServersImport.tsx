import { useEffect, useId, useState } from "react";
import type { ServersFile, ServersImported } from "../bridge/bindings";
import { shell } from "../bridge/bridge";
import { ErrorNote } from "../frame/ErrorNote";
import { t } from "../language/text";
import { ActionButton } from "../primitives/ActionButton";
import { useStore } from "../state/store";
import { attempt } from "./actions";
import { Group, Row } from "./Row";
import { importLines } from "./toolServers";
import { useDeed } from "./useDeed";

/** Servers that another program has: out of its file, or out of a text that is pasted. */
export function ToolServersImport() {
  const [files, setFiles] = useState<ServersFile[]>([]);
  const [text, setText] = useState("");
  const [imported, setImported] = useState<ServersImported | null>(null);
  const { busy, error, run } = useDeed();
  const field = useId();
  useEffect(() => void attempt(async () => setFiles(await shell.toolServerFiles())), []);
  const take = (from: () => Promise<ServersImported>) => {
    setImported(null);
    return run(async () => setImported(await from()));
  };
  const takeText = async () => {
    // The text may hold keys: it stays only where there is something to mend.
    await take(async () => {
      const done = await shell.importToolServers(text);
      if (done.left_out.length === 0) setText("");
      return done;
    });
  };
  const wait = busy ? t("settings-server-busy") : null;
  return (
    <Group name={t("settings-servers-import")} words={t("settings-servers-import.words")}>
      {files.map(({ program, path }) => (
        <Row key={path} name={program} words={<span className="path">{path}</span>}>
          <ActionButton
            className="button"
            aria-label={t("settings-servers-import.from", { program })}
            data-testid="import-file"
            reason={wait}
            onClick={() => take(() => shell.importToolServerFile(path))}
          >
            {t("settings-servers-import.take")}
          </ActionButton>
        </Row>
      ))}
      <form
        className="server-import"
        onSubmit={(event) => {
          event.preventDefault();
          if (wait === null && text.trim() !== "") takeText();
        }}
      >
        <div className="field">
          <label htmlFor={field}>{t("settings-servers-import.text")}</label>
          <textarea
            id={field}
            rows={3}
            spellCheck={false}
            autoCapitalize="off"
            autoCorrect="off"
            value={text}
            placeholder={'{ "mcpServers": { … } }'}
            data-testid="import-text"
            onChange={(event) => setText(event.target.value)}
          />
        </div>
        <ActionButton
          type="submit"
          className="button"
          aria-label={t("settings-servers-import.take-text")}
          data-testid="import-servers"
          reason={wait ?? (text.trim() === "" ? t("settings-list.empty") : null)}
        >
          {t("settings-servers-import.take")}
        </ActionButton>
      </form>
      {error && <ErrorNote error={error} testId="import-failed" />}
      <div role="status">{imported && <Imported imported={imported} />}</div>
    </Group>
  );
}

function Imported({ imported }: { imported: ServersImported }) {
  const servers = useStore((state) => state.tools.servers);
  return (
    <ul className="part-note" data-testid="imported">
      {importLines(imported, servers).map((line) => (
        <li key={line}>{line}</li>
      ))}
    </ul>
  );
}
