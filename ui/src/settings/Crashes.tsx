import { useEffect, useState } from "react";
import type { CrashReport } from "../bridge/bindings";
import { reportOf, shell } from "../bridge/bridge";
import { t } from "../language/text";
import { setView } from "../state/store";
import { revealCrashReports } from "./actions";

/** Crashes that the system has written reports about; nothing where there are none. */
export function Crashes() {
  const [crashes, setCrashes] = useState<CrashReport[]>([]);
  useEffect(() => {
    shell.crashReports().then(setCrashes, (error) => setView({ settingsError: reportOf(error) }));
  }, []);
  return <CrashList crashes={crashes} onReveal={revealCrashReports} />;
}

interface Props {
  crashes: CrashReport[];
  onReveal: () => void;
}

/** The crashes, the newest first. */
export function CrashList({ crashes, onReveal }: Props) {
  if (crashes.length === 0) return null;
  return (
    <section className="crashes" aria-label={t("settings-crashes")} data-testid="crashes">
      <div className="setting">
        <div className="setting-text">
          <h2 className="setting-name">{t("settings-crashes")}</h2>
          <p className="setting-words">{t("settings-crashes.words")}</p>
          <ul className="setting-words">
            {crashes.map(({ file, program, at, exception }) => (
              <li key={file} className="numbers">
                {at} {program}: {exception}
              </li>
            ))}
          </ul>
        </div>
        <div className="row-actions">
          <button type="button" className="button" data-testid="reveal-crashes" onClick={onReveal}>
            {t("word-show-folder")}
          </button>
        </div>
      </div>
    </section>
  );
}
