import type { KeyboardEvent } from "react";
import type { SearchHit } from "../bridge/bindings";
import { focusComposer } from "../chat/focus";
import { keysLabel } from "../palette/table";
import { Icon } from "../primitives/icons";
import { setView, useStore } from "../state/store";
import { openHit, searchChats } from "./actions";

/** Where the person says what to look for in all chats. */
export function SearchField() {
  const query = useStore((state) => state.query);
  const first = useStore((state) => state.hits?.hits[0]);
  const onKeyDown = (event: KeyboardEvent<HTMLInputElement>) => {
    if (event.key === "Enter" && first) openHit(first.chat, first.message);
    else if (event.key === "Escape") leave(query);
    else if (event.key === "ArrowDown") document.querySelector<HTMLElement>("[data-testid=hit]")?.focus();
    else return;
    event.preventDefault();
  };
  return (
    <div className="chat-search">
      <Icon name="search" />
      <input
        type="search"
        autoComplete="off"
        spellCheck={false}
        value={query}
        placeholder="Search"
        aria-label="Search all chats"
        data-testid="chat-search"
        data-escape
        onChange={(event) => searchChats(event.target.value)}
        onKeyDown={onKeyDown}
      />
      <kbd className="keys">{query === "" ? keysLabel("find_chats") : "esc"}</kbd>
    </div>
  );
}

/** A search that is given up goes first, then the field. */
function leave(query: string): void {
  if (query === "") focusComposer();
  else searchChats("");
}

/** What the search has found. */
export function SearchResults() {
  const hits = useStore((state) => state.hits);
  return (
    <div className="chat-list" data-testid="hits" aria-busy={hits === null}>
      <p className="off-screen" role="status">
        {hits === null ? "" : hits.hits.length === 1 ? "1 place found" : `${hits.hits.length} places found`}
      </p>
      {hits?.hits.length === 0 && <p className="list-note">Nothing was found.</p>}
      <ul aria-label="What was found">
        {hits?.hits.map((hit) => (
          <li key={`${hit.chat} ${hit.message}`}>
            <Hit hit={hit} />
          </li>
        ))}
      </ul>
      {hits?.more && <p className="list-note">There is more. Add a word to narrow it down.</p>}
    </div>
  );
}

function Hit({ hit }: { hit: SearchHit }) {
  const jump = useStore((state) => state.jump?.message);
  return (
    <button
      type="button"
      className="hit"
      data-testid="hit"
      data-escape
      aria-current={hit.message !== null && hit.message === jump ? "true" : undefined}
      onClick={() => openHit(hit.chat, hit.message)}
      onKeyDown={moveFocus}
    >
      <span className="hit-title">{hit.message === null ? <Snippet hit={hit} /> : hit.title}</span>
      {hit.message !== null && (
        <span className="hit-words">
          <Snippet hit={hit} />
        </span>
      )}
    </button>
  );
}

function Snippet({ hit: { snippet } }: { hit: SearchHit }) {
  return snippet.map(({ text, matched }, index) =>
    // biome-ignore lint/suspicious/noArrayIndexKey: the pieces of a snippet stay in their order
    matched ? <mark key={index}>{text}</mark> : text,
  );
}

function moveFocus(event: KeyboardEvent<HTMLElement>): void {
  const item = event.currentTarget.closest("li");
  const field = () => document.querySelector<HTMLElement>("[data-testid=chat-search]");
  const beside = (next: Element | null | undefined) => next?.querySelector<HTMLElement>("button");
  if (event.key === "ArrowDown") beside(item?.nextElementSibling)?.focus();
  else if (event.key === "ArrowUp") (beside(item?.previousElementSibling) ?? field())?.focus();
  else if (event.key === "Escape") {
    searchChats("");
    setView({ jump: null });
    field()?.focus();
  } else return;
  event.preventDefault();
}
