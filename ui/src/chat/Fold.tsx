import type { ReactNode } from "react";
import { Icon } from "../primitives/icons";
import { setView, useStore } from "../state/store";

interface Props {
  /** What is folded away. */
  name: string;
  /** What matters most of it. */
  value: ReactNode;
  testId: string;
  /** What is said to whoever sees the name for the first time. */
  hint?: string;
  children: ReactNode;
}

/** A line of the panel that opens to all there is to say. Which ones are open is remembered. */
export function Fold({ name, value, testId, hint, children }: Props) {
  const open = useStore((state) => state.openFolds.includes(testId));
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
