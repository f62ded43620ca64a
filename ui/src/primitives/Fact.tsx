import type { ReactNode } from "react";

/** One thing in a list of facts: what it is, and what it is here. */
export function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
