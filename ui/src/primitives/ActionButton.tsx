import type { ComponentProps } from "react";
import { explained } from "./format";

interface Props extends ComponentProps<"button"> {
  /** Why it cannot be used now; null if it can. */
  reason: string | null;
}

/** A button that, while it cannot be used, says why and can still be reached with Tab. */
export function ActionButton({ reason, type = "button", onClick, ...rest }: Props) {
  return (
    <button
      {...rest}
      {...(reason === null ? null : explained(reason))}
      type={type}
      aria-disabled={reason !== null || undefined}
      onClick={reason === null ? onClick : (event) => event.preventDefault()}
    />
  );
}
