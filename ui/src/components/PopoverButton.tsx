import { Popover } from "@base-ui/react/popover";
import { type ReactNode, useRef } from "react";
import { Icon } from "./icons";

interface Props {
  /** What the button says. */
  label: ReactNode;
  /** What the popover is called. */
  title: string;
  testId: string;
  /** Why it cannot be used now, if so. */
  disabledBecause?: string | null;
  side?: "top" | "bottom";
  className?: string;
  popupClassName?: string;
  popupTestId?: string;
  chevron?: boolean;
  open?: boolean;
  onOpenChange?: (open: boolean) => void;
  children: ReactNode;
}

/** A word that opens a popover. */
export function PopoverButton({
  label,
  title,
  testId,
  disabledBecause = null,
  side = "top",
  className = "control",
  popupClassName = "",
  popupTestId,
  chevron = true,
  open,
  onOpenChange,
  children,
}: Props) {
  const popup = useRef<HTMLDivElement>(null);
  const current = () => popup.current?.querySelector<HTMLElement>('[aria-checked="true"]') ?? true;
  return (
    <Popover.Root open={open} onOpenChange={(next) => onOpenChange?.(next)}>
      <Popover.Trigger
        className={className}
        data-testid={testId}
        disabled={disabledBecause !== null}
        title={disabledBecause ?? undefined}
      >
        {label}
        {chevron && disabledBecause === null && <Icon name="down" />}
      </Popover.Trigger>
      <Popover.Portal>
        <Popover.Positioner
          side={side}
          align="start"
          sideOffset={8}
          collisionPadding={12}
          className="positioner"
        >
          <Popover.Popup
            ref={popup}
            initialFocus={current}
            className={`popover ${popupClassName}`}
            aria-label={title}
            data-testid={popupTestId}
          >
            {children}
          </Popover.Popup>
        </Popover.Positioner>
      </Popover.Portal>
    </Popover.Root>
  );
}
