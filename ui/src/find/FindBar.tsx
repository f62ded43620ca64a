import type { KeyboardEvent } from "react";
import { keysLabel } from "../palette/table";
import { count } from "../primitives/format";
import { Icon, type IconName } from "../primitives/icons";
import { useStore } from "../state/store";
import { closeFind, findWords, goToMatch, openFind } from "./actions";
import { isSame, matchesOf } from "./matches";

const STEPS: Record<string, number> = { ArrowDown: 1, ArrowUp: -1 };

/** What is looked for in the open chat, and the ways to the next match and the one before; there while there is any. */
export function FindBar() {
  const find = useStore(openFind);
  const messages = useStore((state) => state.messages);
  if (find === null) return null;
  const matches = matchesOf(messages, find.query);
  const at = matches.findIndex((match) => isSame(match, find.current));
  const onKeyDown = (event: KeyboardEvent) => {
    const isEnter = event.key === "Enter" && event.target instanceof HTMLInputElement;
    const steps = isEnter ? (event.shiftKey ? -1 : 1) : STEPS[event.key];
    if (steps === undefined) return;
    event.preventDefault();
    goToMatch(steps);
  };
  return (
    <section
      className="find-bar"
      aria-label="Matches in this chat"
      data-testid="find-bar"
      onKeyDown={onKeyDown}
    >
      {find.field ? (
        <input
          type="text"
          className="find-field"
          autoComplete="off"
          spellCheck={false}
          placeholder="Find in this chat"
          aria-label="Find in this chat"
          data-testid="find-field"
          value={find.query}
          onChange={(event) => findWords(event.target.value)}
        />
      ) : (
        <span className="find-words">
          <span className="find-query">“{find.query.trim()}”</span> in this chat
        </span>
      )}
      <span className="find-count numbers" role="status" data-testid="find-count">
        <span className="off-screen">Match </span>
        {find.query.trim() === ""
          ? ""
          : at < 0
            ? `– of ${count(matches.length)}`
            : `${count(at + 1)} of ${count(matches.length)}`}
      </span>
      <BarButton
        icon="up"
        name="Previous match"
        keys={keysLabel("find_previous")}
        testId="find-previous"
        onClick={() => goToMatch(-1)}
      />
      <BarButton
        icon="arrowDown"
        name="Next match"
        keys={keysLabel("find_next")}
        testId="find-next"
        onClick={() => goToMatch(1)}
      />
      <BarButton icon="close" name="Close" keys="Esc" testId="find-close" onClick={closeFind} />
    </section>
  );
}

interface BarButtonProps {
  icon: IconName;
  name: string;
  keys: string | null;
  testId: string;
  onClick: () => void;
}

function BarButton({ icon, name, keys, testId, onClick }: BarButtonProps) {
  return (
    <button
      type="button"
      className="icon-button"
      aria-label={name}
      title={keys === null ? name : `${name} (${keys})`}
      data-testid={testId}
      onClick={onClick}
    >
      <Icon name={icon} />
    </button>
  );
}
