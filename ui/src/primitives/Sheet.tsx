import { Dialog } from "@base-ui/react/dialog";
import type { ReactNode } from "react";
import { t } from "../language/text";
import { Icon } from "./icons";

interface Props {
  open: boolean;
  onClose: () => void;
  title: string;
  testId: string;
  /** What stays in view below what scrolls. */
  foot: ReactNode;
  children: ReactNode;
}

/** A question over the window, answered or closed before anything else. */
export function Sheet({ open, onClose, title, testId, foot, children }: Props) {
  return (
    <Dialog.Root open={open} onOpenChange={(next) => next || onClose()}>
      <Dialog.Portal>
        <Dialog.Backdrop className="sheet-backdrop" />
        <Dialog.Popup className="sheet" data-testid={testId}>
          <header className="sheet-head">
            <Dialog.Title className="sheet-title">{title}</Dialog.Title>
            <Dialog.Close className="icon-button" aria-label={t("word-close")} title={t("word-close.title")}>
              <Icon name="close" />
            </Dialog.Close>
          </header>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable with the keyboard */}
          <section className="sheet-body" tabIndex={0} aria-label={title}>
            {children}
          </section>
          <footer className="sheet-foot">{foot}</footer>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
