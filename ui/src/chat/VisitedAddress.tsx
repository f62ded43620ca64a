import { t } from "../language/text";
import type { Address } from "../markdown/address";
import { VisibleText } from "./VisibleText";

interface Props {
  /** As the server has written it. */
  written: string;
  /** The same as it is opened; null where it is not opened. */
  address: Address | null;
}

/** All of an address that a server wants to have opened, its site stressed, and what it could deceive by. */
export function VisitedAddress({ written, address }: Props) {
  return (
    <div className="visited-address">
      <code dir="ltr" translate="no" data-testid="visited-address">
        {address === null ? (
          <VisibleText text={written} />
        ) : (
          <>
            {address.start}
            <strong>{address.host}</strong>
            {address.rest}
          </>
        )}
      </code>
      {address === null && <p className="field-words">{t("server-question.not-opened")}</p>}
      {address?.notes.map((note) => (
        <p key={note} className="field-words">
          {note}
        </p>
      ))}
    </div>
  );
}
