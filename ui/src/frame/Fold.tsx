import type { ReactNode } from "react";
import { Icon } from "../primitives/icons";
import { setView, useStore } from "../state/store";

interface Props {
  /** What is folded away. */
  name: string;
  /** What matters most of it. */
  value: ReactNode;
  /** Names it; there where there is more to say. */
  testId?: string;
  /** What is said to whoever sees the name for the first time. */
  hint?: string;
  children?: ReactNode;
}

/** A line that opens to all there is to say. Which ones are open is remembered. */
export function Fold({ name, value, testId, hint, children }: Props) {
  const open = useStore((state) => testId !== undefined && state.openFolds.includes(testId));
  if (testId === undefined)
    return (
      <p className="fold fold-head">
        <span className="fold-name">{name}</span>
        <span className="fold-value numbers">{value}</span>
      </p>
    );
  const toggle = () => {
    const others = useStore.getState().openFolds.filter((fold) => fold !== testId);
    setView({ openFolds: open ? others : [...others, testId] });
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
