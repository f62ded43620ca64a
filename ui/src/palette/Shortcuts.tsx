import type { Action } from "../bridge/bindings";
import { t } from "../language/text";
import { Sheet } from "../primitives/Sheet";
import { setView, useStore } from "../state/store";
import { formatKeys, keysOf } from "./keys";
import { actionName, TABLE } from "./table";

/** What is done with keys where one writes or reads. */
const elsewhere = (): [string, string[]][] => [
  [t("palette-keys-send"), ["Enter"]],
  [t("palette-keys-line"), [`${t("word-key-shift")}+Enter`]],
  [t("palette-keys-list"), ["↑", "↓"]],
  [t("palette-keys-next-area"), ["F6"]],
  [t("palette-keys-previous-area"), [`${t("word-key-shift")}+F6`]],
  [t("palette-keys-close"), ["Esc"]],
];

/** All keys that do something, over the page. */
export function Shortcuts() {
  const open = useStore((state) => state.shortcuts);
  return (
    <Sheet
      open={open}
      onClose={() => setView({ shortcuts: false })}
      title={t("action-shortcuts")}
      testId="shortcuts"
      foot={<p className="sheet-state">{t("palette-shortcuts")}</p>}
    >
      <ShortcutList />
    </Sheet>
  );
}

export function ShortcutList() {
  const rows = TABLE.map((action): [string, string[]] => [actionName(action), keysOfAction(action)]).filter(
    ([, keys]) => keys.length > 0,
  );
  return (
    <dl className="shortcuts">
      {[...rows, ...elsewhere()].map(([name, keys]) => (
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
