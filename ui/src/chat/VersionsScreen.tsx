import { useEffect, useState } from "react";
import type { Message } from "../bridge/bindings";
import { readReply } from "../bridge/replyListeners";
import { ErrorNote } from "../frame/ErrorNote";
import { showError } from "../frame/errors";
import { Screen } from "../frame/Screen";
import { t } from "../language/text";
import { formatted } from "../paper/copying";
import { CopyButton } from "../primitives/CopyButton";
import { footerParts, samplingLabel } from "../primitives/format";
import { Icon } from "../primitives/icons";
import { RevealedText } from "../reveal/RevealedText";
import { streamingReply } from "../state/server";
import { setView, useStore } from "../state/store";
import { stop } from "./actions";
import { splitFiles } from "./attachments";
import { LiveLine } from "./LiveLine";
import { keepVersion } from "./sideBySide";
import { Thinking } from "./Thinking";
import { comparedVersions } from "./view";

type Side = "left" | "right";

/** Two versions of a reply side by side, to read and to keep one of. */
export function VersionsScreen() {
  const compared = useStore((state) => state.compared);
  const versions = useStore(comparedVersions);
  const question = useStore(({ messages }) => questionOf(messages, versions));
  const writing = useStore(streamingReply) !== null;
  const isLeft = versions === null;
  // The chat is gone, or it goes on elsewhere.
  useEffect(() => {
    if (isLeft) setView({ screen: "chat" });
  }, [isLeft]);
  if (compared === null || versions === null) return null;
  return (
    <Screen
      title={t("reply-side-by-side")}
      testId="versions-screen"
      takesFocus
      tools={
        <>
          {writing && (
            <button type="button" className="button" data-testid="versions-stop" onClick={stop}>
              {t("reply-side-by-side.stop")}
            </button>
          )}
          <button
            type="button"
            className="quiet-button"
            data-testid="versions-back"
            title={t("reply-side-by-side.back-esc")}
            onClick={() => setView({ screen: "chat" })}
          >
            {t("reply-side-by-side.back")}
          </button>
        </>
      }
    >
      <div className="versions-place">
        {question !== null && <p className="versions-question">{splitFiles(question.text).text}</p>}
        <div className="versions-columns">
          {(["left", "right"] as const).map((side) => (
            <Column key={side} side={side} id={compared[side]} versions={versions} />
          ))}
        </div>
      </div>
    </Screen>
  );
}

/** The question that versions of a reply answer, as far as one of them is shown in the chat. */
function questionOf(messages: Message[], versions: number[] | null): Message | null {
  const shown = messages.find(({ id }) => versions?.includes(id));
  return messages.find(({ id }) => id === shown?.parent) ?? null;
}

/** A reply that may stand on a branch that is not shown; null until it is read. */
function useVersion(id: number): Message | null {
  const shown = useStore(({ messages }) => messages.find((message) => message.id === id));
  const chat = useStore((state) => state.chat);
  const writing = useStore(({ live }) => live[id] !== undefined);
  const [read, setRead] = useState<Message | null>(null);
  const wanted = shown === undefined && !writing && chat !== null;
  useEffect(() => {
    if (!wanted) return;
    let here = true;
    readReply(chat, id).then((message) => here && setRead(message), showError);
    return () => {
      here = false;
    };
  }, [wanted, chat, id]);
  return shown ?? (read?.id === id ? read : null);
}

interface ColumnProps {
  side: Side;
  id: number;
  versions: number[];
}

function Column({ side, id, versions }: ColumnProps) {
  const reply = useVersion(id);
  const live = useStore((state) => state.live[id]);
  const text = live?.answer ?? reply?.text ?? "";
  const thinking = live?.thinking ?? reply?.thinking ?? "";
  const streaming = live !== undefined;
  return (
    <article
      className="version-column"
      aria-label={t("reply-version", { version: versions.indexOf(id) + 1 })}
      aria-busy={streaming}
      data-testid={`version-${side}`}
      data-message={id}
    >
      <header className="version-head">
        <h2>{reply?.model ?? t("reply-name")}</h2>
        <Choice side={side} id={id} versions={versions} />
      </header>
      {thinking.trim() !== "" && (
        <Thinking
          message={id}
          text={thinking}
          runs={null}
          running={streaming && text === ""}
          unfinished={!streaming && text === ""}
          since={live?.thinkingSince ?? null}
          seconds={live?.thoughtSeconds ?? reply?.stats?.thinking.seconds ?? null}
          cut={reply?.stats?.thinking.cut ?? false}
        />
      )}
      <div className="answer" data-testid="answer">
        <RevealedText text={text} complete={!streaming} runs={null} />
      </div>
      {reply?.error && <ErrorNote error={reply.error} testId="version-error" />}
      {streaming ? <LiveLine live={live} /> : reply && <Made reply={reply} />}
      {!streaming && reply && (
        <footer className="version-foot">
          <button
            type="button"
            className="button"
            data-testid={`keep-${side}`}
            onClick={() => keepVersion(id)}
          >
            {t("reply-side-by-side.keep")}
          </button>
          {text !== "" && <CopyButton text={() => formatted(id, text)} label={t("reply-copy")} />}
        </footer>
      )}
    </article>
  );
}

/** Which version stands here: any but the one on the other side. */
function Choice({ side, id, versions }: ColumnProps) {
  const other = useStore(({ compared }) => compared?.[side === "left" ? "right" : "left"]);
  const label = (at: number) => t("reply-version.of", { version: at + 1, of: versions.length });
  if (versions.length === 2) return <span className="soft numbers">{label(versions.indexOf(id))}</span>;
  return (
    <span className="select-place">
      <select
        className="select"
        aria-label={t(side === "left" ? "reply-side-by-side.left" : "reply-side-by-side.right")}
        data-testid={`choose-${side}`}
        value={id}
        onChange={(event) => {
          const { compared } = useStore.getState();
          if (compared) setView({ compared: { ...compared, [side]: Number(event.target.value) } });
        }}
      >
        {versions.map(
          (version, at) =>
            version !== other && (
              <option key={version} value={version}>
                {label(at)}
              </option>
            ),
        )}
      </select>
      <Icon name="down" />
    </span>
  );
}

/** How fast a reply was and how it was drawn, as far as that is known. */
function Made({ reply: { stats, edited } }: { reply: Message }) {
  if (edited) return <p className="version-made">{t("reply-edited")}</p>;
  if (stats === null || stats.emitted === 0) return null;
  const { gain, speed, pass, accepted } = footerParts(stats);
  const parts = [gain, speed, pass, accepted].filter((part) => part !== null);
  return (
    <div className="version-made numbers">
      <p>{parts.join(" · ")}</p>
      {/* A reply of an older version does not know them. */}
      {stats.version && (
        <p>
          {samplingLabel(stats.sampling)} · {t("reply-seed", { seed: String(stats.seed) })}
        </p>
      )}
    </div>
  );
}
