import { type FormEvent, useId, useState } from "react";
import { shell } from "../bridge/bridge";
import { ErrorNote } from "../frame/ErrorNote";
import { t } from "../language/text";
import { useStore } from "../state/store";
import { Group } from "./Row";
import { useDeed } from "./useDeed";

/** Where models search the web: nowhere until the person names a service. */
export function SearchService() {
  const kept = useStore((state) => state.tools.search);
  const [typed, setTyped] = useState<string | null>(null);
  const { busy, error, run, forget } = useDeed();
  const id = useId();
  const save = async () => {
    if (typed === null || busy) return;
    const address = typed.trim();
    // What was typed meanwhile stays, and so does what is no address.
    if (address === kept || (await run(() => shell.setToolSearch(address))))
      setTyped((now) => (now === typed ? null : now));
  };
  const onSubmit = (event: FormEvent) => {
    event.preventDefault();
    save();
  };
  return (
    <Group name={t("settings-web")} words={t("settings-web.words")}>
      <form className="field tool-search" onSubmit={onSubmit}>
        <label htmlFor={id}>{t("settings-web.search")}</label>
        <input
          id={id}
          type="text"
          inputMode="url"
          autoComplete="off"
          autoCapitalize="off"
          autoCorrect="off"
          spellCheck={false}
          value={typed ?? kept}
          placeholder="https://search.example.org"
          aria-invalid={error !== null}
          aria-describedby={`${id}-words`}
          data-testid="tool-search"
          onChange={(event) => {
            setTyped(event.target.value);
            forget();
          }}
          onBlur={save}
        />
        <p id={`${id}-words`} className="field-words">
          {t("settings-web.search-words")}
        </p>
        {error && <ErrorNote error={error} testId="tool-search-failed" />}
      </form>
    </Group>
  );
}
