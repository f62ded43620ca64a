import { Popover } from "@base-ui/react/popover";
import type { ReactNode } from "react";
import { CopyButton } from "../components/CopyButton";

const handle = Popover.createHandle<string>();

/** A link's text. It leads nowhere: its address is shown on hover and focus, and can be copied. */
export function Link({ address, children }: { address: string; children: ReactNode }) {
  return (
    <Popover.Trigger
      handle={handle}
      payload={address}
      nativeButton={false}
      openOnHover
      delay={250}
      render={<span className="link" title={address} />}
    >
      {children}
    </Popover.Trigger>
  );
}

/** Shows the address of whichever link is asked for. */
export function LinkAddress() {
  return (
    <Popover.Root handle={handle}>
      {({ payload }) => (
        <Popover.Portal>
          <Popover.Positioner side="top" sideOffset={6} collisionPadding={8} className="positioner">
            <Popover.Popup
              className="popover link-address"
              aria-label="Address of the link"
              initialFocus={false}
            >
              <code>{payload}</code>
              <CopyButton text={payload ?? ""} label="Copy address" />
            </Popover.Popup>
          </Popover.Positioner>
        </Popover.Portal>
      )}
    </Popover.Root>
  );
}
