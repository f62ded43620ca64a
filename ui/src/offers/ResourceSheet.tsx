import { Dialog } from "@base-ui/react/dialog";
import { type KeyboardEvent, type RefObject, useEffect, useId, useMemo, useRef, useState } from "react";
import { useShallow } from "zustand/react/shallow";
import type { ServerResource } from "../bridge/bindings";
import { attachResource } from "../chat/attaching";
import { VisibleText } from "../chat/VisibleText";
import { visible } from "../chat/visible";
import { ErrorNote } from "../frame/ErrorNote";
import { t } from "../language/text";
import { bytes } from "../primitives/format";
import { Icon } from "../primitives/icons";
import { setView, useStore } from "../state/store";
import { askServers, isAsking, type OfferedResource, offered, offeredResources } from "./offers";

const close = () => setView({ choosingResource: false });

/** Lets the person choose among what servers have to read, for the next message. */
export function ResourceSheet() {
  const open = useStore((state) => state.choosingResource);
  const field = useRef<HTMLInputElement>(null);
  const composer = () => document.querySelector<HTMLElement>("[data-testid=composer]");
  return (
    <Dialog.Root open={open} onOpenChange={(next) => next || close()}>
      <Dialog.Portal>
        <Dialog.Backdrop className="sheet-backdrop" />
        <Dialog.Popup
          className="sheet palette resources"
          data-testid="resource-sheet"
          initialFocus={field}
          // The message goes on.
          finalFocus={composer}
        >
          <header className="sheet-head">
            <Dialog.Title className="sheet-title">{t("offers-resources")}</Dialog.Title>
            <Dialog.Close className="icon-button" aria-label={t("word-close")} title={t("word-close.title")}>
              <Icon name="close" />
            </Dialog.Close>
          </header>
          <Resources field={field} />
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

function attach({ server, resource }: OfferedResource): void {
  close();
  attachResource(server, resource);
}

function Resources({ field }: { field: RefObject<HTMLInputElement | null> }) {
  const offers = useStore(useShallow(offered));
  const asking = useStore(isAsking);
  const failure = useStore((state) => state.offersError);
  const [query, setQuery] = useState("");
  // By its key: another server may have told what stands before it.
  const [at, setAt] = useState<string>();
  const id = useId();
  const list = useRef<HTMLDivElement>(null);
  const found = useMemo(() => offeredResources(offers, query), [offers, query]);
  const chosen = Math.max(
    found.findIndex(({ key }) => key === at),
    0,
  );
  const select = (index: number) => setAt(found[index]?.key);
  useEffect(() => {
    askServers();
  }, []);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the list is new with each search
  useEffect(() => {
    list.current?.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" });
  }, [chosen, query]);

  const onKeyDown = (event: KeyboardEvent) => {
    const one = found[chosen];
    if (!one) return;
    if (event.key === "ArrowDown") select((chosen + 1) % found.length);
    else if (event.key === "ArrowUp") select((chosen + found.length - 1) % found.length);
    else if (event.key === "Enter") attach(one);
    else return;
    event.preventDefault();
  };
  const groups = offers
    .map(({ slug, name }) => ({ slug, name, rows: found.filter(({ server }) => server === slug) }))
    .filter(({ rows }) => rows.length > 0);
  const failed = offers.filter(({ error }) => error !== null);
  const hasSome = offers.some(({ resources }) => resources.length > 0);
  const note = asking
    ? t("offers-resources.asking")
    : found.length > 0
      ? null
      : hasSome
        ? t("offers-resources.no-match")
        : failed.length === 0 && failure === null
          ? t("offers-resources.none")
          : null;
  return (
    <>
      <div className="palette-field">
        <Icon name="search" />
        <input
          ref={field}
          type="text"
          role="combobox"
          autoComplete="off"
          spellCheck={false}
          aria-label={t("offers-resources.search")}
          aria-expanded="true"
          aria-controls={id}
          aria-autocomplete="list"
          aria-activedescendant={found[chosen] && `${id}-${chosen}`}
          placeholder={t("offers-resources.search")}
          data-testid="resource-search"
          value={query}
          onChange={({ target: { value } }) => {
            setQuery(value);
            setAt(offeredResources(offers, value)[0]?.key);
          }}
          onKeyDown={onKeyDown}
        />
      </div>
      <div className="resources-body">
        <div id={id} role="listbox" aria-label={t("offers-resources.list")} ref={list}>
          {groups.map(({ slug, name, rows }) => (
            // biome-ignore lint/a11y/useSemanticElements: a fieldset is for input
            <div key={slug} role="group" aria-label={visible(name)} className="resources-group">
              <Heading server={name} />
              {rows.map((one) => {
                const index = found.indexOf(one);
                return (
                  // biome-ignore lint/a11y/useFocusableInteractive: the field keeps the focus and names the choice
                  // biome-ignore lint/a11y/useKeyWithClickEvents: the field hears the keys
                  <div
                    key={one.key}
                    id={`${id}-${index}`}
                    role="option"
                    aria-selected={index === chosen}
                    className="resource"
                    data-testid="resource"
                    onPointerMove={() => select(index)}
                    onClick={() => attach(one)}
                  >
                    <Words resource={one.resource} />
                  </div>
                );
              })}
            </div>
          ))}
        </div>
        {note !== null && (
          <p className="list-note" role="status" data-testid="resources-note">
            {note}
          </p>
        )}
        {failure && <ErrorNote error={failure} testId="resources-failed" />}
        {failed.map(
          ({ slug, name, error }) =>
            error && (
              <section key={slug} className="resources-group" aria-label={visible(name)}>
                <Heading server={name} />
                <ErrorNote error={error} testId="resources-failed" />
              </section>
            ),
        )}
      </div>
    </>
  );
}

/** What a server is called, above what it has; whoever hears the list is told it with each group. */
function Heading({ server }: { server: string }) {
  return (
    <p className="resources-server" aria-hidden="true" translate="no">
      <VisibleText text={server} />
    </p>
  );
}

/** Something to read: what it is called, what it is and how large. */
function Words({ resource: { name, description, media_type, bytes: size } }: { resource: ServerResource }) {
  // Something small is not nothing.
  const large = size !== null && bytes(size === 0 ? 0 : Math.max(size, 1000));
  const facts = [media_type && visible(media_type), large].filter(Boolean);
  return (
    <>
      <span className="resource-head">
        <bdi className="resource-name" translate="no">
          <VisibleText text={name} />
        </bdi>
        {facts.length > 0 && <span className="resource-facts numbers">{facts.join(" · ")}</span>}
      </span>
      {/\S/.test(description) && (
        <bdi className="resource-words" translate="no">
          <VisibleText text={description} />
        </bdi>
      )}
    </>
  );
}
