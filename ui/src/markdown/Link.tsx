import { Popover } from "@base-ui/react/popover";
import { type KeyboardEvent, type ReactNode, useId } from "react";
import { t } from "../language/text";
import { CopyButton } from "../primitives/CopyButton";
import { type Address, wholeOf } from "./address";
import { openLink } from "./openLink";

interface Asked {
  /** The element of the link. */
  id: string;
  address: Address;
}

const handle = Popover.createHandle<Asked>();

/** A link's text. It leads nowhere: its address is shown on hover and when Tab reaches it, and can be opened there. */
export function Link({ address, children }: { address: Address; children: ReactNode }) {
  const id = useId();
  // Not on every focus: a click opens it by itself, and Escape in the address gives the focus back.
  const onKeyUp = ({ key }: KeyboardEvent) => {
    if (key === "Tab") handle.open(id);
  };
  return (
    <Popover.Trigger
      id={id}
      handle={handle}
      payload={{ id, address }}
      nativeButton={false}
      openOnHover
      delay={250}
      onKeyUp={onKeyUp}
      render={<span className="link" title={wholeOf(address)} />}
    >
      {children}
    </Popover.Trigger>
  );
}

/** What scrolls with a link. Its address stays within that: what is beside it is used meanwhile. */
const around = (id: string) => document.getElementById(id)?.closest(".conversation, .sheet-body");

/** Shows the address of whichever link is asked for. */
export function LinkAddress() {
  return (
    <Popover.Root handle={handle}>
      {({ payload }) => (
        <Popover.Portal>
          <Popover.Positioner
            positionMethod="fixed"
            side="top"
            sideOffset={6}
            collisionPadding={8}
            collisionBoundary={(payload && around(payload.id)) ?? undefined}
            collisionAvoidance={{ fallbackAxisSide: "none" }}
            className="positioner"
          >
            <Popover.Popup
              className="popover link-address"
              aria-label={t("markdown-link")}
              initialFocus={false}
            >
              {payload && <Shown address={payload.address} />}
            </Popover.Popup>
          </Popover.Positioner>
        </Popover.Portal>
      )}
    </Popover.Root>
  );
}

/** An address with its site stressed, and what it could deceive by. */
export function Shown({ address }: { address: Address }) {
  const whole = wholeOf(address);
  return (
    <div className="link-line">
      <code dir="ltr">
        {address.start}
        <strong>{address.host}</strong>
        {address.rest}
      </code>
      {address.notes.map((note) => (
        <p key={note} className="link-note">
          {note}
        </p>
      ))}
      <CopyButton text={whole} label={t("markdown-link.copy")} />
      <button type="button" className="quiet-button" data-testid="open-link" onClick={() => openLink(whole)}>
        {t(address.mail ? "markdown-link.mail" : "markdown-link.open")}
      </button>
    </div>
  );
}
