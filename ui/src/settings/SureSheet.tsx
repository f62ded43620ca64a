import { t } from "../language/text";
import { Sheet } from "../primitives/Sheet";

interface Props {
  open: boolean;
  onClose: () => void;
  /** The question. */
  title: string;
  /** What then happens. */
  words: string;
  /** What the button says that does it. */
  sure: string;
  testId: string;
  onSure: () => void;
}

/** Asks before something goes that cannot be brought back. */
export function SureSheet({ open, onClose, title, words, sure, testId, onSure }: Props) {
  return (
    <Sheet
      open={open}
      onClose={onClose}
      title={title}
      testId={testId}
      foot={
        <>
          <span className="spring" />
          <button type="button" className="button" data-testid={`${testId}-cancel`} onClick={onClose}>
            {t("settings-sure.cancel")}
          </button>
          <button
            type="button"
            className="button danger"
            data-testid={`${testId}-now`}
            onClick={() => {
              onClose();
              onSure();
            }}
          >
            {sure}
          </button>
        </>
      }
    >
      <p>{words}</p>
    </Sheet>
  );
}
