import type { KeyboardEvent } from "react";
import { focusComposer } from "../chat/focus";
import { closeFind, openFind } from "../find/actions";
import { closeDrawer } from "../frame/drawer";
import { t } from "../language/text";
import { keysLabel } from "../palette/table";
import { Icon } from "../primitives/icons";
import { useStore } from "../state/store";
import { openHit, searchChats } from "./actions";
import { firstPlace } from "./places";

/** Where the person says what to look for in all chats. */
export function SearchField() {
  const query = useStore((state) => state.query);
  const first = firstPlace(useStore((state) => state.hits));
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
        placeholder={t("chats-search")}
        aria-label={t("chats-search.label")}
        data-testid="chat-search"
        data-escape
        onChange={(event) => searchChats(event.target.value)}
        onKeyDown={onKeyDown}
      />
      <kbd className="keys">{query === "" ? keysLabel("find") : "esc"}</kbd>
    </div>
  );
}

/** What is marked in the open chat goes first, then the search, then the person from the field. */
function leave(query: string): void {
  if (openFind(useStore.getState()) !== null) closeFind();
  else if (query !== "") searchChats("");
  else {
    closeDrawer();
    focusComposer();
  }
}
