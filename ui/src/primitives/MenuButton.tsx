import { Menu } from "@base-ui/react/menu";
import type { ReactNode } from "react";

export interface MenuEntry {
  name: string;
  /** The keys that do the same. */
  keys?: string | null;
  /** Why it cannot be chosen now; null if it can. */
  reason: string | null;
  onSelect: () => void;
  /** What can be chosen in its place, below its name. */
  entries?: MenuEntry[];
}

interface Props {
  label: string;
  testId: string;
  entries: MenuEntry[];
  open?: boolean;
  onOpenChange?: (open: boolean) => void;
  tabIndex?: number;
  className?: string;
  side?: "top" | "bottom";
  align?: "start" | "end";
  children: ReactNode;
}

/** A button that opens a menu. What cannot be chosen says why, and can still be reached with the arrow keys. */
export function MenuButton({
  label,
  testId,
  entries,
  open,
  onOpenChange,
  tabIndex,
  className = "icon-button",
  side = "bottom",
  align = "end",
  children,
}: Props) {
  return (
    <Menu.Root modal={false} open={open} onOpenChange={(next) => onOpenChange?.(next)}>
      <Menu.Trigger
        className={className}
        aria-label={label}
        title={label}
        data-testid={testId}
        tabIndex={tabIndex}
      >
        {children}
      </Menu.Trigger>
      <Menu.Portal>
        <Menu.Positioner
          positionMethod="fixed"
          side={side}
          align={align}
          sideOffset={4}
          collisionPadding={12}
          className="positioner"
        >
          <Menu.Popup className="popover menu">
            {entries.map((entry) =>
              entry.entries && entry.reason === null ? (
                <Group key={entry.name} name={entry.name} entries={entry.entries} />
              ) : (
                <Item key={entry.name} {...entry} />
              ),
            )}
          </Menu.Popup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
  );
}

function Item({ name, keys, reason, onSelect }: MenuEntry) {
  return (
    <Menu.Item
      className="menu-item"
      aria-disabled={reason !== null || undefined}
      closeOnClick={reason === null}
      onClick={reason === null ? onSelect : undefined}
    >
      {name}
      {keys && <kbd className="menu-keys">{keys}</kbd>}
      {reason !== null && <span className="menu-reason">{reason}</span>}
    </Menu.Item>
  );
}

function Group({ name, entries }: { name: string; entries: MenuEntry[] }) {
  return (
    <Menu.Group className="menu-group">
      <Menu.GroupLabel className="menu-label">{name}</Menu.GroupLabel>
      {entries.map((entry) => (
        <Item key={entry.name} {...entry} />
      ))}
    </Menu.Group>
  );
}
