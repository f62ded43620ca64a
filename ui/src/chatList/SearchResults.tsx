import type { KeyboardEvent } from "react";
import type { FoundChat, SearchResults as Results, Searched, SnippetPart } from "../bridge/bindings";
import { closeFind, openFind } from "../find/actions";
import { RichText } from "../language/RichText";
import { t } from "../language/text";
import { count, shortDate } from "../primitives/format";
import { Icon } from "../primitives/icons";
import { radios } from "../primitives/radios";
import { setView, useStore } from "../state/store";
import { filterSearch, openHit, searchChats } from "./actions";
import {
  type FilterChoice,
  filterChoices,
  foundLabel,
  isSame,
  nothingLabel,
  placesElsewhere,
  untold,
} from "./places";
import type { Hits } from "./view";

/** What the search has found, by chat, and the ways to see only a part of it. */
export function SearchResults() {
  const hits = useStore((state) => state.hits);
  const now = Date.now();
  return (
    <>
      {hits !== null && hits.counts.all > 0 && <Filters results={hits} />}
      {/* biome-ignore lint/a11y/noStaticElementInteractions: the keys are those of the buttons in it */}
      <div className="chat-list" data-testid="hits" aria-busy={hits === null} onKeyDown={moveFocus}>
        <p className="off-screen" role="status">
          {hits !== null && foundLabel(hits)}
        </p>
        {hits?.chats.length === 0 && <NothingFound hits={hits} />}
        <ul aria-label={t("chats-search-results")}>
          {hits?.chats.map((found) => (
            <li key={found.chat} className="found-chat" data-testid="found-chat">
              <Found found={found} now={now} />
            </li>
          ))}
        </ul>
        {hits !== null && <Rest results={hits} />}
      </div>
    </>
  );
}

function Filters({ results: { counts, capped } }: { results: Results }) {
  const chosen = useStore((state) => state.searchFilter);
  const choices = filterChoices(counts, chosen);
  const check = (index: number) => filterSearch(choices[index]?.filter ?? { kind: "all" });
  const at = choices.findIndex(({ filter }) => isSame(filter, chosen));
  const { group, radio } = radios(t("chats-search-filters"), at, check);
  return (
    <div className="search-filters" {...group}>
      {choices.map((choice, index) => (
        <button
          {...radio(index)}
          key={`${choice.filter.kind} ${choice.name}`}
          className="search-filter"
          data-testid="search-filter"
          title={choice.filter.kind === "tag" ? t("chats-search-tagged", { tag: choice.name }) : undefined}
          onClick={() => check(index)}
        >
          <FilterWords choice={choice} capped={capped} />
        </button>
      ))}
    </div>
  );
}

function FilterWords({ choice: { name, places }, capped }: { choice: FilterChoice; capped: boolean }) {
  return (
    <>
      {name}{" "}
      <RichText
        id="chats-search-places"
        args={{ places, shown: `${count(places)}${capped ? "+" : ""}` }}
        parts={{
          number: (shown) => <span className="numbers">{shown}</span>,
          unit: (words) => <span className="off-screen">{words}</span>,
        }}
      />
    </>
  );
}

/** A chat with the places in it. Its title is one where it matches. */
function Found({ found, now }: { found: FoundChat; now: number }) {
  const title = found.title.map(({ text }) => text).join("") || t("chats-unnamed");
  const head = (
    <>
      <span className="found-title">{found.titled ? <Snippet parts={found.title} /> : title}</span>
      <time className="found-date numbers" dateTime={new Date(found.updated_at).toISOString()}>
        {shortDate(found.updated_at, now)}
      </time>
    </>
  );
  const more = untold(found);
  return (
    <>
      {found.titled ? (
        <button
          type="button"
          className="hit found-head"
          data-testid="hit"
          data-escape
          title={title}
          onClick={() => openHit(found.chat, null)}
        >
          {head}
        </button>
      ) : (
        <div className="found-head" title={title}>
          {head}
        </div>
      )}
      {found.messages.length > 0 && (
        <ul aria-label={t("chats-search-in-chat", { title })}>
          {found.messages.map(({ message, snippet }) => (
            <li key={message}>
              <MessagePlace chat={found.chat} message={message} snippet={snippet} />
            </li>
          ))}
        </ul>
      )}
      {more > 0 && <p className="list-note">{t("chats-search-more-in-chat", { places: more })}</p>}
    </>
  );
}

interface MessagePlaceProps {
  chat: number;
  message: number;
  snippet: SnippetPart[];
}

function MessagePlace({ chat, message, snippet }: MessagePlaceProps) {
  const current = useStore((state) => (openFind(state)?.current ?? state.jump)?.message === message);
  return (
    <button
      type="button"
      className="hit found-place"
      data-testid="hit"
      data-escape
      aria-current={current ? "true" : undefined}
      onClick={() => openHit(chat, message)}
    >
      <span className="found-words">
        <Snippet parts={snippet} />
      </span>
    </button>
  );
}

function Snippet({ parts }: { parts: SnippetPart[] }) {
  return parts.map(({ text, matched }, index) =>
    // biome-ignore lint/suspicious/noArrayIndexKey: the pieces of a snippet stay in their order
    matched ? <mark key={index}>{text}</mark> : text,
  );
}

/** Says what is not told, so that nobody takes the list for all there is. */
function Rest({ results }: { results: Results }) {
  const places = placesElsewhere(results);
  if (places === 0 && !results.capped) return null;
  return (
    <p className="list-note">
      {places === 0
        ? t("chats-search-capped")
        : t(results.capped ? "chats-search-elsewhere-capped" : "chats-search-elsewhere", { places })}
    </p>
  );
}

function NothingFound({ hits: { query, filter, searched } }: { hits: Hits }) {
  return (
    <div className="nothing-found">
      <Icon name="search" />
      <strong>{nothingLabel(query, filter)}</strong>
      {searched && <p>{searchedLabel(searched)}</p>}
    </div>
  );
}

const searchedLabel = ({ messages, files }: Searched): string =>
  files === 0
    ? t("chats-search-searched", { messages })
    : t("chats-search-searched-files", { messages, files });

/** The keys of the search, where the screens have their names otherwise. */
export function SearchKeys() {
  return (
    <p className="search-keys">
      <span>{t("chats-search-keys-move")}</span>
      <span>{t("chats-search-keys-open")}</span>
      <span>{t("chats-search-keys-leave")}</span>
    </p>
  );
}

function moveFocus(event: KeyboardEvent<HTMLElement>): void {
  const places = [...event.currentTarget.querySelectorAll<HTMLElement>("[data-testid=hit]")];
  const at = places.indexOf(event.target as HTMLElement);
  if (at < 0) return;
  const field = () => document.querySelector<HTMLElement>("[data-testid=chat-search]");
  if (event.key === "ArrowDown") places[at + 1]?.focus();
  else if (event.key === "ArrowUp") (places[at - 1] ?? field())?.focus();
  else if (event.key === "Escape") leave(field());
  else return;
  event.preventDefault();
}

/** What is marked in the open chat goes first, then the search. */
function leave(field: HTMLElement | null): void {
  if (openFind(useStore.getState()) !== null) {
    closeFind();
    return;
  }
  searchChats("");
  setView({ jump: null });
  field?.focus();
}
