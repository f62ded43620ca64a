import { useId, useState } from "react";
import type {
  ApiOutcome,
  ApiRequest,
  ApiWritten,
  EndedApiRequest,
  ApiRequests as Requests,
} from "../bridge/bindings";
import { count, percent, rate } from "../primitives/format";
import { stopApiRequest } from "./localApi";

/** How many of those that have ended are shown until somebody wants to see all. */
const SHOWN = 12;

/** What other programs ask for now, and what they have asked for. */
export function ApiRequests({ requests: { live, ended } }: { requests: Requests }) {
  const [all, setAll] = useState(false);
  const table = useId();
  return (
    <section className="settings-group" aria-label="Requests">
      <div className="api-requests-head">
        <h2>
          Requests{" "}
          <span className="soft numbers api-now">{live.length === 0 ? "" : `${live.length} now`}</span>
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
            {all ? `Show the last ${SHOWN}` : `Show all ${ended.length}`}
          </button>
        )}
      </div>
      {live.length + ended.length === 0 ? (
        <p className="part-note">Nothing has been asked since Foretoken was started.</p>
      ) : (
        <section
          className="table-place"
          // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable with the keyboard
          tabIndex={0}
          aria-label="Requests of other programs"
        >
          <table id={table} className="table numbers api-requests" data-testid="api-requests">
            <thead>
              <tr>
                <th scope="col">Time</th>
                <th scope="col">From</th>
                <th scope="col">
                  <span className="off-screen">How far</span>
                </th>
                <th scope="col">tok/s</th>
                <th scope="col" title="Share of the guessed tokens">
                  accepted
                </th>
                <th scope="col">
                  <span className="off-screen">Stop</span>
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
      ? "waiting"
      : stage.stage === "reading"
        ? `reading ${percent(stage.done / Math.max(stage.total, 1))}`
        : `writing · ${tokens(written)}`;
  return (
    <tr data-testid="api-request" data-stage={stage.stage}>
      <td className="soft">now</td>
      <th scope="row" title={model}>
        {program}
      </th>
      <td className="soft">{words}</td>
      <Figures written={written} />
      <td>
        <button
          type="button"
          className="button"
          aria-label={`Stop the request of ${program}`}
          data-testid="stop-request"
          onClick={() => stopApiRequest(id)}
        >
          Stop
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

const tokens = ({ tokens }: ApiWritten): string => `${count(tokens)} ${tokens === 1 ? "token" : "tokens"}`;

/** What programs are told by a code, in words. */
const REASONS: Record<string, string> = {
  context_length_exceeded: "the prompt is too long",
  queue_full: "too many others wait",
  engine_stopped: "the engine stopped",
  engine_unavailable: "no model is loaded",
  out_of_memory: "not enough memory",
  tools_not_supported: "the model calls no tools",
  template_refused: "the model’s template refuses it",
};

function ending(outcome: ApiOutcome): string {
  switch (outcome.outcome) {
    case "done":
      return "done";
    case "stopped":
      return "stopped";
    case "left":
      return "the program left";
    case "failed":
      return `refused: ${REASONS[outcome.code] ?? outcome.code.replaceAll("_", " ")}`;
  }
}
