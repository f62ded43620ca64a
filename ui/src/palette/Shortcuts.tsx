import type { Action } from "../bridge/bindings";
import { Sheet } from "../primitives/Sheet";
import { setView, useStore } from "../state/store";
import { formatKeys, keysOf } from "./keys";
import { TABLE } from "./table";

/** What is done with keys where one writes or reads. */
const ELSEWHERE: [string, string[]][] = [
  ["Send the message", ["Enter"]],
  ["Begin a new line", ["Shift+Enter"]],
  ["Move through a list", ["↑", "↓"]],
  ["Next area of the window", ["F6"]],
  ["Previous area of the window", ["Shift+F6"]],
  ["Close what is open, or go back to the chat", ["Esc"]],
];

/** All keys that do something, over the page. */
export function Shortcuts() {
  const open = useStore((state) => state.shortcuts);
  return (
    <Sheet
      open={open}
      onClose={() => setView({ shortcuts: false })}
      title="Keyboard shortcuts"
      testId="shortcuts"
      foot={<p className="sheet-state">The palette finds everything by name.</p>}
    >
      <ShortcutList />
    </Sheet>
  );
}

export function ShortcutList() {
  const rows = TABLE.map((action): [string, string[]] => [action.name, keysOfAction(action)]).filter(
    ([, keys]) => keys.length > 0,
  );
  return (
    <dl className="shortcuts">
      {[...rows, ...ELSEWHERE].map(([name, keys]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            {keys.map((key) => (
              <kbd key={key}>{key}</kbd>
            ))}
          </dd>
        </div>
      ))}
    </dl>
  );
}

const keysOfAction = (action: Action): string[] =>
  [keysOf(action), action.also].flatMap((keys) => (keys === null ? [] : [formatKeys(keys)]));
