import type { KeyboardEvent } from "react";
import { RichText } from "../language/RichText";
import { t } from "../language/text";
import { keysLabel } from "../palette/table";
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
    <section className="find-bar" aria-label={t("find-matches")} data-testid="find-bar" onKeyDown={onKeyDown}>
      {find.field ? (
        <input
          type="text"
          className="find-field"
          autoComplete="off"
          spellCheck={false}
          placeholder={t("find-field")}
          aria-label={t("find-field")}
          data-testid="find-field"
          value={find.query}
          onChange={(event) => findWords(event.target.value)}
        />
      ) : (
        <span className="find-words">
          <RichText
            id="find-words"
            parts={{
              query: () => (
                <span className="find-query">{t("find-words.query", { query: find.query.trim() })}</span>
              ),
            }}
          />
        </span>
      )}
      <span className="find-count numbers" role="status" data-testid="find-count">
        <RichText
          id="find-count"
          args={{
            place: find.query.trim() === "" ? "none" : at < 0 ? "lost" : "match",
            at: at + 1,
            all: matches.length,
          }}
          parts={{ unseen: (words) => <span className="off-screen">{words}</span> }}
        />
      </span>
      <BarButton
        icon="up"
        name={t("find-previous")}
        keys={keysLabel("find_previous")}
        testId="find-previous"
        onClick={() => goToMatch(-1)}
      />
      <BarButton
        icon="arrowDown"
        name={t("find-next")}
        keys={keysLabel("find_next")}
        testId="find-next"
        onClick={() => goToMatch(1)}
      />
      <BarButton icon="close" name={t("find-close")} keys="Esc" testId="find-close" onClick={closeFind} />
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
