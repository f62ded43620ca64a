import { memo, useEffect, useLayoutEffect, useRef, useState } from "react";
import type { LogLevel, LogLine } from "../bridge/bindings";
import { reportOf, shell } from "../bridge/bridge";
import { t } from "../language/text";
import { CopyButton } from "../primitives/CopyButton";
import { Icon } from "../primitives/icons";
import { setView } from "../state/store";
import { Crashes } from "./Crashes";
import { Page } from "./Page";

/** How often the log is asked for what is new, in milliseconds. */
const PULSE = 1000;
/** How many lines are kept here. */
const MAX_LINES = 2000;
/** So near to its end, in pixels, the log is followed. */
const NEAR = 24;

const LEVELS: LogLevel[] = ["error", "warn", "info", "debug"];

/** What is shown up to a level. */
function levelName(level: LogLevel): string {
  switch (level) {
    case "error":
      return t("settings-log-level.error");
    case "warn":
      return t("settings-log-level.warn");
    case "info":
      return t("settings-log-level.info");
    case "debug":
      return t("settings-log-level.debug");
  }
}

/** What the app and its engine say, and a report for others. */
export function DiagnosticsPage() {
  const [level, setLevel] = useState<LogLevel>("debug");
  const lines = useLog();
  const shown = lines.filter((line) => rank(line.level) <= rank(level));
  return (
    <Page
      title={t("settings-page.diagnostics")}
      testId="settings-diagnostics"
      scrolls={false}
      tools={
        <>
          <CopyButton text={shown.map(lineText).join("\n")} label={t("settings-log.copy")} />
          <CopyReport lines={lines} />
        </>
      }
    >
      <div className="diagnostics-head">
        <div className="select-place">
          <select
            className="select"
            aria-label={t("settings-log-level.label")}
            data-testid="log-level"
            value={level}
            onChange={(event) => setLevel(event.target.value as LogLevel)}
          >
            {LEVELS.map((level) => (
              <option key={level} value={level}>
                {levelName(level)}
              </option>
            ))}
          </select>
          <Icon name="down" />
        </div>
        <p className="soft">{t("settings-log.note")}</p>
      </div>
      <Crashes />
      <Log lines={shown} />
    </Page>
  );
}

const rank = (level: LogLevel): number => LEVELS.indexOf(level);

/** The log as it grows. */
function useLog(): LogLine[] {
  const [lines, setLines] = useState<LogLine[]>([]);
  useEffect(() => {
    let known = 0;
    let asking = false;
    const ask = async () => {
      if (asking) return;
      asking = true;
      try {
        const more = await shell.logLines(known);
        known = more.at(-1)?.number ?? known;
        if (more.length > 0) setLines((lines) => [...lines, ...more].slice(-MAX_LINES));
      } catch (error) {
        setView({ settingsError: reportOf(error) });
      }
      asking = false;
    };
    ask();
    const timer = setInterval(ask, PULSE);
    return () => clearInterval(timer);
  }, []);
  return lines;
}

/** Lines of the log. While its end is in view, it stays there. */
const Log = memo(function Log({ lines }: { lines: LogLine[] }) {
  const place = useRef<HTMLElement>(null);
  const follows = useRef(true);
  // biome-ignore lint/correctness/useExhaustiveDependencies: more lines move the end
  useLayoutEffect(() => {
    const log = place.current;
    if (log && follows.current) log.scrollTop = log.scrollHeight;
  }, [lines]);
  return (
    <section
      className="log"
      ref={place}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable with the keyboard
      tabIndex={0}
      aria-label={t("settings-log")}
      data-testid="log"
      onScroll={({ currentTarget: log }) => {
        follows.current = log.scrollHeight - log.scrollTop - log.clientHeight < NEAR;
      }}
    >
      {lines.length === 0 && <p className="list-note">{t("settings-log.empty")}</p>}
      {lines.map((line) => (
        <p key={line.number} className={`log-line ${line.level}`}>
          <span className="log-time">{time(line.at)}</span> <span className="log-level">{line.level}</span>{" "}
          <span className="log-source">{line.source}</span> {line.text}
        </p>
      ))}
    </section>
  );
});

const time = (at: number): string => new Date(at).toTimeString().slice(0, 8);

const lineText = ({ at, level, source, text }: LogLine): string =>
  `${new Date(at).toISOString()} ${level.toUpperCase()} ${source}: ${text}`;

/** Copies the report. It is made beforehand, as the clipboard is open only while a click is dealt with. */
function CopyReport({ lines }: { lines: LogLine[] }) {
  const [report, setReport] = useState<string | null>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: what is new in the log may be in the report
  useEffect(() => {
    shell.report().then(setReport, (error) => setView({ settingsError: reportOf(error) }));
  }, [lines]);
  return (
    <CopyButton
      className="button"
      text={report ?? ""}
      label={t("settings-report.copy")}
      testId="copy-report"
      reason={report === null ? t("settings-report.unready") : null}
    />
  );
}
