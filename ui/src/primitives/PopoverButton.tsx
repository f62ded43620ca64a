import { Popover } from "@base-ui/react/popover";
import { type ReactNode, useRef } from "react";
import { explained } from "./format";
import { Icon } from "./icons";

interface Props {
  /** What the button says. */
  label: ReactNode;
  /** What the popover is called. */
  title: string;
  testId: string;
  /** Why there is nothing to choose; the popover then says so in place of its content. */
  reason?: string | null;
  /** What explains the button where it can be used. */
  hint?: string | null;
  side?: "top" | "bottom";
  className?: string;
  popupClassName?: string;
  popupTestId?: string;
  chevron?: boolean;
  /** It is read from its beginning: what can be used in it is at its end. */
  toRead?: boolean;
  open?: boolean;
  onOpenChange?: (open: boolean) => void;
  children?: ReactNode;
}

/** A word that opens a popover. */
export function PopoverButton({
  label,
  title,
  testId,
  reason = null,
  hint = null,
  side = "top",
  className = "control",
  popupClassName = "",
  popupTestId,
  chevron = true,
  toRead = false,
  open,
  onOpenChange,
  children,
}: Props) {
  const popup = useRef<HTMLDivElement>(null);
  const explanation = reason ?? hint;
  const current = () => popup.current?.querySelector<HTMLElement>('[aria-checked="true"]') ?? true;
  return (
    <Popover.Root open={open} onOpenChange={(next) => onOpenChange?.(next)}>
      <Popover.Trigger
        className={className}
        data-testid={testId}
        aria-disabled={reason !== null || undefined}
        {...(explanation === null ? null : explained(explanation))}
      >
        {label}
        {chevron && reason === null && <Icon name="down" />}
      </Popover.Trigger>
      <Popover.Portal>
        <Popover.Positioner
          // Positioned in the page, it would stick out of a window that shrinks, and its focus would scroll the page.
          positionMethod="fixed"
          side={side}
          align="start"
          sideOffset={8}
          collisionPadding={12}
          // Beside its button it would have hardly any height; above or below it scrolls.
          collisionAvoidance={{ fallbackAxisSide: "none" }}
          className="positioner"
        >
          <Popover.Popup
            ref={popup}
            initialFocus={toRead ? popup : current}
            className={`popover ${popupClassName}`}
            aria-label={title}
            data-testid={popupTestId}
          >
            {reason === null ? children : <p>{reason}</p>}
          </Popover.Popup>
        </Popover.Positioner>
      </Popover.Portal>
    </Popover.Root>
  );
}
