import type { ReactNode } from "react";
import type { OpenFolds } from "../bridge/bindings";
import { Icon } from "../primitives/icons";
import { changePreferences } from "../settings/actions";
import { useStore } from "../state/store";

/** What can be folded, by the name that it is remembered by. */
const PREFIX = "fold-";
type FoldId = `${typeof PREFIX}${keyof OpenFolds}`;

interface Props {
  /** What is folded away. */
  name: string;
  /** What matters most of it. */
  value: ReactNode;
  /** Names it; there where there is more to say. */
  testId?: FoldId;
  /** What is said to whoever sees the name for the first time. */
  hint?: string;
  children?: ReactNode;
}

/** A line that opens to all there is to say. Which ones are open is remembered. */
export function Fold({ name, value, testId, hint, children }: Props) {
  const fold = testId?.slice(PREFIX.length) as keyof OpenFolds | undefined;
  const open = useStore(({ preferences }) => fold !== undefined && preferences.open_folds[fold]);
  if (fold === undefined)
    return (
      <p className="fold fold-head">
        <span className="fold-name">{name}</span>
        <span className="fold-value numbers">{value}</span>
      </p>
    );
  const toggle = () => {
    const { open_folds } = useStore.getState().preferences;
    changePreferences({ open_folds: { ...open_folds, [fold]: !open } });
  };
  return (
    <section className="fold">
      <button
        type="button"
        className="fold-head"
        aria-expanded={open}
        data-testid={testId}
        title={hint}
        onClick={toggle}
      >
        <Icon name="right" />
        <span className="fold-name">{name}</span>
        <span className="fold-value numbers">{value}</span>
      </button>
      {open && <div className="fold-body">{children}</div>}
    </section>
  );
}
