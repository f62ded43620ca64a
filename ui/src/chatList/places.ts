import type { FoundChat, SearchCounts, SearchFilter, SearchResults } from "../bridge/bindings";
import { t } from "../language/text";

/** A place that a search has found: a message, or the title of a chat. */
export interface Place {
  chat: number;
  message: number | null;
}

/** The place that stands first. */
export function firstPlace(results: SearchResults | null): Place | null {
  const first = results?.chats[0];
  if (!first) return null;
  return { chat: first.chat, message: first.titled ? null : (first.messages[0]?.message ?? null) };
}

/** Places of a chat that are not told. */
export const untold = ({ places, titled, messages }: FoundChat): number =>
  places - Number(titled) - messages.length;

/** Places in chats that are not told. */
export const placesElsewhere = ({ places, chats }: SearchResults): number =>
  chats.reduce((left, chat) => left - chat.places, places);

/** `6 places in 5 chats`. With `capped` they are only the newest. */
export function foundLabel({ places, chats, capped }: SearchResults): string {
  if (chats.length === 0) return t("chats-search-nothing");
  return t(capped ? "chats-search-found-capped" : "chats-search-found", { places, chats: chats.length });
}

/** A filter that can be chosen, and how many places it leaves. */
export interface FilterChoice {
  filter: SearchFilter;
  name: string;
  places: number;
}

/** So many tags are offered. */
const TAGS = 4;

/** The filters that leave something, and the one that is chosen. */
export function filterChoices(
  { all, pinned, week, tags }: SearchCounts,
  chosen: SearchFilter,
): FilterChoice[] {
  const ofTag = (name: string, places: number): FilterChoice => ({
    filter: { kind: "tag", name },
    name,
    places,
  });
  const offered: FilterChoice[] = [
    { filter: { kind: "week" }, name: t("chats-search-week"), places: week },
    { filter: { kind: "pinned" }, name: t("chats-search-pinned"), places: pinned },
    ...tags.slice(0, TAGS).map(({ name, places }) => ofTag(name, places)),
  ];
  const others = offered.filter(({ filter, places }) => places > 0 || isSame(filter, chosen));
  const isOffered = chosen.kind !== "tag" || others.some(({ filter }) => isSame(filter, chosen));
  const missing = isOffered
    ? []
    : [ofTag(chosen.name, tags.find(({ name }) => name === chosen.name)?.places ?? 0)];
  return [{ filter: { kind: "all" }, name: t("chats-search-all"), places: all }, ...others, ...missing];
}

export const isSame = (one: SearchFilter, other: SearchFilter): boolean =>
  one.kind === other.kind && (one.kind !== "tag" || other.kind !== "tag" || one.name === other.name);

/** Says that there is nothing: `No pinned chat has “frost”`. */
export function nothingLabel(asked: string, filter: SearchFilter): string {
  const query = asked.trim();
  switch (filter.kind) {
    case "all":
      return t("chats-search-none", { query });
    case "pinned":
      return t("chats-search-none-pinned", { query });
    case "week":
      return t("chats-search-none-week", { query });
    case "tag":
      return t("chats-search-none-tagged", { tag: filter.name, query });
  }
}
