import type { ReactNode } from "react";

/** A further number in a line of numbers, parted from the one before it by a dot that is read and copied too. */
export function Further({ className = "", children }: { className?: string; children: ReactNode }) {
  return (
    <span className={className}>
      <span className="dot"> · </span>
      {children}
    </span>
  );
}
