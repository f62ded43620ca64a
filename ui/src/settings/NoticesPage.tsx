import { useEffect, useId, useState } from "react";
import type { ErrorReport, Notice } from "../bridge/bindings";
import { reportOf, shell } from "../bridge/bridge";
import { ErrorNote } from "../frame/ErrorNote";
import { t } from "../language/text";
import { Icon } from "../primitives/icons";
import { setView } from "../state/store";
import { revealBillOfMaterials } from "./actions";
import { Page } from "./Page";
import { Row } from "./Row";

/** What others have made and the app carries. One text at a time is drawn: together they are long. */
export function NoticesPage() {
  const [notices, setNotices] = useState<Notice[]>([]);
  const [error, setError] = useState<ErrorReport | null>(null);
  const [open, setOpen] = useState<number | null>(null);
  useEffect(() => {
    shell.notices().then(setNotices, (failed) => setError(reportOf(failed)));
  }, []);
  return (
    <Page title={t("settings-page.notices")} testId="settings-notices">
      {error && <ErrorNote error={error} testId="notices-error" />}
      <p className="part-note">{t("settings-notices-note")}</p>
      <BillOfMaterials />
      <ul className="notices">
        {notices.map((notice, place) => (
          <NoticeRow
            key={`${notice.name} ${notice.version}`}
            notice={notice}
            place={place}
            isOpen={open === place}
            onToggle={() => setOpen(open === place ? null : place)}
          />
        ))}
      </ul>
    </Page>
  );
}

/** The list of all that the app is made of, for programs; a build that is no bundle carries none. */
function BillOfMaterials() {
  const [is, setIs] = useState(false);
  useEffect(() => {
    shell.hasBillOfMaterials().then(setIs, (error) => setView({ settingsError: reportOf(error) }));
  }, []);
  if (!is) return null;
  return (
    <Row name={t("settings-bill")} words={t("settings-bill.words")}>
      <button
        type="button"
        className="button"
        data-testid="reveal-bill-of-materials"
        onClick={revealBillOfMaterials}
      >
        {t("word-show-folder")}
      </button>
    </Row>
  );
}

interface Props {
  notice: Notice;
  /** Its place in the list. */
  place: number;
  isOpen: boolean;
  onToggle: () => void;
}

function NoticeRow({ notice: { name, version, licence }, place, isOpen, onToggle }: Props) {
  const id = useId();
  return (
    <li data-testid="notice">
      <div className="setting">
        <div className="setting-text">
          <h2 className="setting-name">
            {name} <span className="soft numbers">{version}</span>
          </h2>
          <p className="setting-words">{licence}</p>
        </div>
        <div className="row-actions">
          <button
            type="button"
            className="quiet-button"
            aria-expanded={isOpen}
            aria-controls={isOpen ? id : undefined}
            aria-label={t("settings-licence.of", { name })}
            data-testid="notice-open"
            onClick={onToggle}
          >
            {t("settings-licence")}
            <Icon name={isOpen ? "earlier" : "down"} />
          </button>
        </div>
      </div>
      {isOpen && <NoticeText id={id} name={name} place={place} />}
    </li>
  );
}

function NoticeText({ id, name, place }: { id: string; name: string; place: number }) {
  const [text, setText] = useState<string | null>(null);
  const [error, setError] = useState<ErrorReport | null>(null);
  useEffect(() => {
    shell.noticeText(place).then(setText, (failed) => setError(reportOf(failed)));
  }, [place]);
  if (error) return <ErrorNote error={error} testId="notices-error" />;
  return (
    <section
      id={id}
      className="notice-text"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable with the keyboard
      tabIndex={0}
      aria-label={t("settings-licence.text", { name })}
      data-testid="notice-text"
    >
      {text ?? "…"}
    </section>
  );
}
