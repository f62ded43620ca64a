import { useId, useState } from "react";
import type {
  ApiOutcome,
  ApiRequest,
  ApiWritten,
  EndedApiRequest,
  ApiRequests as Requests,
} from "../bridge/bindings";
import { t } from "../language/text";
import { percent, rate } from "../primitives/format";
import { stopApiRequest } from "./localApi";

/** How many of those that have ended are shown until somebody wants to see all. */
const SHOWN = 12;

/** What other programs ask for now, and what they have asked for. */
export function ApiRequests({ requests: { live, ended } }: { requests: Requests }) {
  const [all, setAll] = useState(false);
  const table = useId();
  return (
    <section className="settings-group" aria-label={t("settings-requests")}>
      <div className="api-requests-head">
        <h2>
          {t("settings-requests")}{" "}
          <span className="soft numbers api-now">
            {live.length === 0 ? "" : t("settings-requests.now", { count: live.length })}
          </span>
        </h2>
        {/* Before the rows that it shows and hides, it stays where it is, and they follow it. */}
        {ended.length > SHOWN && (
          <button
            type="button"
            className="quiet-button"
            aria-controls={table}
            data-testid="all-requests"
            onClick={() => setAll(!all)}
          >
            {t(all ? "settings-requests.last" : "settings-requests.all", {
              count: all ? SHOWN : ended.length,
            })}
          </button>
        )}
      </div>
      {live.length + ended.length === 0 ? (
        <p className="part-note">{t("settings-requests.none")}</p>
      ) : (
        <section
          className="table-place"
          // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable with the keyboard
          tabIndex={0}
          aria-label={t("settings-requests.table")}
        >
          <table id={table} className="table numbers api-requests" data-testid="api-requests">
            <thead>
              <tr>
                <th scope="col">{t("settings-requests-column.time")}</th>
                <th scope="col">{t("settings-requests-column.from")}</th>
                <th scope="col">
                  <span className="off-screen">{t("settings-requests-column.stage")}</span>
                </th>
                <th scope="col">{t("settings-requests-column.rate")}</th>
                <th scope="col" title={t("settings-requests-column.accepted-of")}>
                  {t("settings-requests-column.accepted")}
                </th>
                <th scope="col">
                  <span className="off-screen">{t("settings-requests-column.stop")}</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {live.map((request) => (
                <LiveRow key={request.id} request={request} />
              ))}
              {(all ? ended : ended.slice(0, SHOWN)).map((request) => (
                <EndedRow key={request.id} request={request} />
              ))}
            </tbody>
          </table>
        </section>
      )}
    </section>
  );
}

function LiveRow({ request: { id, program, model, stage, written } }: { request: ApiRequest }) {
  const words =
    stage.stage === "waiting"
      ? t("settings-request.waiting")
      : stage.stage === "reading"
        ? t("settings-request.reading", { percent: percent(stage.done / Math.max(stage.total, 1)) })
        : `${t("settings-request.writing")} · ${tokens(written)}`;
  return (
    <tr data-testid="api-request" data-stage={stage.stage}>
      <td className="soft">{t("settings-request.now")}</td>
      <th scope="row" title={model}>
        {program}
      </th>
      <td className="soft">{words}</td>
      <Figures written={written} />
      <td>
        <button
          type="button"
          className="button"
          aria-label={t("settings-request.stop-one", { program })}
          data-testid="stop-request"
          onClick={() => stopApiRequest(id)}
        >
          {t("settings-request.stop")}
        </button>
      </td>
    </tr>
  );
}

function EndedRow({ request: { program, model, came_at, written, outcome } }: { request: EndedApiRequest }) {
  const failed = outcome.outcome === "failed";
  return (
    <tr data-testid="api-ended" data-outcome={outcome.outcome}>
      <td className="soft">{new Date(came_at).toTimeString().slice(0, 5)}</td>
      <th scope="row" title={model}>
        {program}
      </th>
      <td className={failed ? "api-failed" : "soft"}>
        {ending(outcome)}
        {written.tokens > 0 && ` · ${tokens(written)}`}
      </td>
      <Figures written={written} />
      <td />
    </tr>
  );
}

function Figures({ written: { tokens_per_second, acceptance } }: { written: ApiWritten }) {
  return (
    <>
      <td>{tokens_per_second === null ? "" : rate(tokens_per_second)}</td>
      <td>{acceptance === null ? "" : percent(acceptance)}</td>
    </>
  );
}

const tokens = ({ tokens }: ApiWritten): string => t("settings-request.tokens", { count: tokens });

/** What programs are told by a code, in words. */
function reasonOf(code: string): string {
  switch (code) {
    case "context_length_exceeded":
      return t("settings-refusal.too-long");
    case "queue_full":
      return t("settings-refusal.queue");
    case "engine_stopped":
      return t("settings-refusal.engine");
    case "engine_unavailable":
      return t("settings-refusal.no-model");
    case "out_of_memory":
      return t("settings-refusal.memory");
    case "tools_not_supported":
      return t("settings-refusal.tools");
    case "template_refused":
      return t("settings-refusal.template");
    default:
      return code.replaceAll("_", " ");
  }
}

function ending(outcome: ApiOutcome): string {
  switch (outcome.outcome) {
    case "done":
      return t("settings-request.done");
    case "stopped":
      return t("settings-request.stopped");
    case "left":
      return t("settings-request.left");
    case "failed":
      return t("settings-request.refused", { reason: reasonOf(outcome.code) });
  }
}
