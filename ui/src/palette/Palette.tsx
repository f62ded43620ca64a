import { Dialog } from "@base-ui/react/dialog";
import { type KeyboardEvent, useEffect, useId, useRef, useState } from "react";
import { useShallow } from "zustand/react/shallow";
import type { FoundChat } from "../bridge/bindings";
import { shell } from "../bridge/bridge";
import { t } from "../language/text";
import { Icon } from "../primitives/icons";
import { setView, useStore } from "../state/store";
import { commandsOf, type Entry, entries, type FoundTitle, offer } from "./entries";
import type { Run } from "./table";

/** How many places a search for titles may tell. */
const HITS = 60;

/** Goes anywhere and does anything, by name. */
export function Palette({ run }: { run: Run }) {
  const open = useStore((state) => state.palette);
  const chosen = useRef<Entry>(null);
  const choose = (entry: Entry) => {
    chosen.current = entry;
    setView({ palette: false });
  };
  // Only when the palette has given the focus back, so that it stays where the choice takes it.
  const onOpenChangeComplete = (open: boolean) => {
    if (!open) chosen.current?.choose();
    chosen.current = null;
  };
  return (
    <Dialog.Root
      open={open}
      onOpenChange={(palette) => setView({ palette })}
      onOpenChangeComplete={onOpenChangeComplete}
    >
      <Dialog.Portal>
        <Dialog.Backdrop className="sheet-backdrop" />
        <Dialog.Popup className="sheet palette" data-testid="palette" aria-label={t("palette-name")}>
          <Choices run={run} onChoose={choose} />
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

function Choices({ run, onChoose }: { run: Run; onChoose: (entry: Entry) => void }) {
  const known = useStore(useShallow(offer));
  const commands = useStore(useShallow(commandsOf));
  const [query, setQuery] = useState("");
  // By its key: what is found late may stand before it.
  const [selected, setSelected] = useState<string>();
  const titles = useTitles(query);
  const id = useId();
  const list = useRef<HTMLDivElement>(null);
  const found = entries(known, commands, query, titles, run);
  const current = Math.max(
    found.findIndex(({ key }) => key === selected),
    0,
  );
  const select = (index: number) => setSelected(found[index]?.key);

  // biome-ignore lint/correctness/useExhaustiveDependencies: the list is new with each query
  useEffect(() => {
    list.current?.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" });
  }, [current, query]);

  const choose = (entry: Entry | undefined) => {
    if (entry) onChoose(entry);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const last = found.length - 1;
    if (event.key === "ArrowDown") select(current >= last ? 0 : current + 1);
    else if (event.key === "ArrowUp") select(current === 0 ? last : current - 1);
    else if (event.key === "Enter") choose(found[current]);
    else return;
    event.preventDefault();
  };

  return (
    <>
      <div className="palette-field">
        <Icon name="search" />
        <input
          type="text"
          role="combobox"
          autoComplete="off"
          spellCheck={false}
          aria-label={t("palette-field.label")}
          aria-expanded="true"
          aria-controls={id}
          aria-autocomplete="list"
          aria-activedescendant={found[current] && `${id} ${current}`.replace(" ", "-")}
          placeholder={t("palette-field")}
          data-testid="palette-field"
          value={query}
          onChange={(event) => {
            setQuery(event.target.value);
            setSelected(entries(known, commands, event.target.value, titles, run)[0]?.key);
          }}
          onKeyDown={onKeyDown}
        />
      </div>
      <div className="palette-list" id={id} role="listbox" aria-label={t("palette-choices")} ref={list}>
        {found.map((entry, index) => (
          // biome-ignore lint/a11y/useFocusableInteractive: the field keeps the focus and names the choice
          // biome-ignore lint/a11y/useKeyWithClickEvents: the field hears the keys
          <div
            key={entry.key}
            id={`${id}-${index}`}
            role="option"
            aria-selected={index === current}
            className="palette-choice"
            data-testid="palette-choice"
            onPointerMove={() => select(index)}
            onClick={() => choose(entry)}
          >
            <span className="palette-name">{entry.name}</span>
            <span className="palette-kind">{entry.keys ?? entry.group}</span>
          </div>
        ))}
      </div>
      {found.length === 0 && (
        <p className="list-note" role="status">
          {t("palette-nothing")}
        </p>
      )}
    </>
  );
}

const titlesOf = (chats: FoundChat[]): FoundTitle[] =>
  chats
    .filter(({ titled }) => titled)
    .map(({ chat, title }) => ({ chat, title: title.map(({ text }) => text).join("") }));

/** Titles among all chats that fit `query`; those of an older query while they are looked for. */
function useTitles(query: string): FoundTitle[] {
  const [titles, setTitles] = useState<FoundTitle[]>([]);
  useEffect(() => {
    if (query.trim() === "") return;
    let wanted = true;
    shell.searchChats(query, { filter: { kind: "all" }, week: 0 }, HITS).then(
      ({ chats }) => wanted && setTitles(titlesOf(chats)),
      // The chats that are listed are offered all the same.
      () => wanted && setTitles([]),
    );
    return () => {
      wanted = false;
    };
  }, [query]);
  return query.trim() === "" ? [] : titles;
}
