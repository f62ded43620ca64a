import { type ReactNode, useEffect, useState } from "react";
import type { ReplyCall } from "../bridge/bindings";
import { reportOf, shell } from "../bridge/bridge";
import { t } from "../language/text";
import { why } from "../language/told";
import { bytes } from "../primitives/format";
import { Arguments } from "./Arguments";
import { decisionWords } from "./callWords";
import { isWhole, type OutcomePart, outcomeOf, pictureAddress } from "./outcome";
import { VisibleText } from "./VisibleText";

/** What a call was given, what came of it, and what the model got of that where it is not the same. */
export function CallDetails({ call }: { call: ReplyCall }) {
  const { known, failed } = useDetails(call);
  const { arguments_written: written, arguments_sent: sent } = known ?? call;
  const decided = decisionWords(call);
  // What a person changed is told; that JSON is written in another way is not.
  const changed = sent !== null && !isSameJson(sent, written);
  return (
    <div className="call-details" data-testid="call-details">
      {decided !== null && <p className="soft">{decided}</p>}
      <Part name={t(changed ? "call-arguments.changed" : "call-arguments")}>
        <Arguments name={t("call-arguments")} json={sent ?? written} />
      </Part>
      {changed && (
        <Part name={t("call-arguments.written")}>
          <Arguments name={t("call-arguments.written")} json={written} />
        </Part>
      )}
      {failed !== null && (
        <p className="call-trouble" role="alert">
          {t("call-result.unread", { why: failed })}
        </p>
      )}
      {known && <Result call={known} />}
    </div>
  );
}

/** A call with its result, which is asked for when somebody looks at it; anew once it has ended. */
function useDetails(call: ReplyCall): { known: ReplyCall | null; failed: string | null } {
  const { message, step, ordinal } = call.id;
  const { state } = call.state;
  const [details, setDetails] = useState<{ known: ReplyCall | null; failed: string | null }>({
    known: null,
    failed: null,
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: how it stands decides what there is to see
  useEffect(() => {
    let wanted = true;
    shell.callDetails({ message, step, ordinal }).then(
      (known) => wanted && setDetails({ known, failed: null }),
      (error) => wanted && setDetails({ known: null, failed: why(reportOf(error)) }),
    );
    return () => {
      wanted = false;
    };
  }, [message, step, ordinal, state]);
  return details;
}

function Result({ call: { result, result_for_model: forModel, left_out: leftOut } }: { call: ReplyCall }) {
  const outcome = result === null ? null : outcomeOf(result);
  const same = outcome !== null && forModel !== null && isWhole(outcome, forModel);
  return (
    <>
      {result !== null && (
        <Part name={t("call-result")}>
          {outcome === null ? (
            <Text text={result} />
          ) : outcome.parts.length === 0 ? (
            <p className="call-none">{t("call-result.none")}</p>
          ) : (
            outcome.parts.map((part, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: a result does not change
              <ResultPart key={index} part={part} />
            ))
          )}
        </Part>
      )}
      {forModel !== null && !same && (
        <Part name={t("call-result.model")}>
          {leftOut !== null && leftOut > 0 && (
            <p className="soft">{t("call-result.left-out", { tokens: leftOut })}</p>
          )}
          <Text text={forModel} />
        </Part>
      )}
    </>
  );
}

function Part({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className="call-part">
      <p className="call-part-name">{name}</p>
      {children}
    </div>
  );
}

/** Nothing of a result is fetched: a picture is drawn from what is here, and an address is a text. */
function ResultPart({ part }: { part: OutcomePart }) {
  switch (part.kind) {
    case "text":
      return <Text text={part.text} />;
    case "picture": {
      const address = pictureAddress(part);
      return address === null ? (
        <p className="call-none">{t("call-result.picture", { kind: part.media_type })}</p>
      ) : (
        <img className="call-picture" src={address} alt={t("call-result.picture-name")} />
      );
    }
    case "other":
      return (
        <p className="call-none">
          <VisibleText text={part.name || part.media_type} />
          {` · ${part.media_type} · ${bytes(part.bytes)}`}
        </p>
      );
    case "link":
      return (
        <p className="call-link">
          {part.name !== "" && (
            <>
              <VisibleText text={part.name} />{" "}
            </>
          )}
          <code>
            <VisibleText text={part.address} />
          </code>
        </p>
      );
  }
}

function Text({ text }: { text: string }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable with the keyboard
    <pre className="call-text" tabIndex={0}>
      <VisibleText text={text} />
    </pre>
  );
}

function isSameJson(a: string, b: string): boolean {
  try {
    return JSON.stringify(JSON.parse(a)) === JSON.stringify(JSON.parse(b));
  } catch {
    return a === b;
  }
}
