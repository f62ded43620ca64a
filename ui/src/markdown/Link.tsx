import { Popover } from "@base-ui/react/popover";
import { type KeyboardEvent, type ReactNode, useId } from "react";
import { openLink } from "../actions";
import { CopyButton } from "../components/CopyButton";

const handle = Popover.createHandle<string>();

/** A link's text. It leads nowhere: its address is shown on hover and when Tab reaches it, and can be opened there. */
export function Link({ address, children }: { address: string; children: ReactNode }) {
  const id = useId();
  // Not on every focus: a click opens it by itself, and Escape in the address gives the focus back.
  const onKeyUp = ({ key }: KeyboardEvent) => {
    if (key === "Tab") handle.open(id);
  };
  return (
    <Popover.Trigger
      id={id}
      handle={handle}
      payload={address}
      nativeButton={false}
      openOnHover
      delay={250}
      onKeyUp={onKeyUp}
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
              {payload && (
                <button
                  type="button"
                  className="quiet-button"
                  data-testid="open-link"
                  onClick={() => openLink(payload)}
                >
                  {payload.startsWith("mailto:") ? "Write a mail" : "Open in the browser"}
                </button>
              )}
            </Popover.Popup>
          </Popover.Positioner>
        </Popover.Portal>
      )}
    </Popover.Root>
  );
}
