import { type ComponentProps, useEffect, useRef, useState } from "react";
import type { LiveStats } from "../bridge/bindings";
import { t } from "../language/text";
import { count, rate, seconds, speedParts } from "../primitives/format";
import type { LiveReply, Reading } from "../state/server";
import { callsOf } from "../state/steps";
import { useModel, useStore } from "../state/store";
import { Further } from "./Further";
import { Pulse } from "./Pulse";
import { blindness, lookingLabel } from "./pictures";

/** Columns of the pulse while a reply is written. */
const COLUMNS = 22;
/** How often the words change while a prompt is read, in milliseconds: as often as the numbers of a reply. */
const CALM = 250;
/** How often the pulse changes for those who want less to move, in milliseconds. */
const STILL = 1000;
/** Reading that began less than this many seconds ago tells nothing of its rate. */
const SETTLED = 0.5;

interface Props {
  live: LiveReply | undefined;
  /** The message that it answers. */
  question?: number | null;
}

/** What a reply does while it is written. Its height, and the place of each number, stay as they are. */
export function LiveLine({ live, question = null }: Props) {
  const pictures = usePicturesSeen(question);
  const pulse = useStore((state) => state.preferences.pulse);
  const reading = useThrottled(live?.reading ?? null, CALM);
  const [still] = useState(() => matchMedia("(prefers-reduced-motion: reduce)").matches);
  const PulseOf = still ? StillPulse : LivePulse;
  return (
    <div className="reply-foot live-line numbers" data-testid="live-line" aria-live="off">
      {live?.reading ? (
        <ReadingLine reading={reading ?? live.reading} now={performance.now()} pictures={pictures} />
      ) : live?.stats ? (
        <>
          {pulse && <PulseOf passes={live.stats.passes} />}
          <Numbers stats={live.stats} />
        </>
      ) : (
        waitingLabel(live)
      )}
    </div>
  );
}

/** How many pictures of a question the model sees. */
function usePicturesSeen(question: number | null): number {
  const sees = blindness(useModel()) === null;
  const pictures = useStore(({ messages }) => messages.find(({ id }) => id === question)?.pictures);
  return sees && pictures ? pictures.filter(({ missing }) => !missing).length : 0;
}

type Passes = Pick<ComponentProps<typeof Pulse>, "passes">;

const LivePulse = ({ passes }: Passes) => <Pulse passes={passes} columns={COLUMNS} />;

/** The pulse for those who want less to move. */
const StillPulse = ({ passes }: Passes) => <Pulse passes={useThrottled(passes, STILL)} columns={COLUMNS} />;

function Numbers({ stats }: { stats: LiveStats }) {
  const [speed, ...others] = speedParts(stats);
  return (
    <>
      <strong className="live-speed">{speed}</strong>
      {others.map((part, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a part is its place
        <Further key={index} className="live-part">
          {part}
        </Further>
      ))}
    </>
  );
}

function waitingLabel(live: LiveReply | undefined): string {
  if (live && callsOf(live.steps).some(({ state }) => state.state === "running")) return t("call-works");
  if (live && live.ahead !== null) return t("chat-waiting.turn", { ahead: live.ahead });
  return t(live?.answer || live?.thinking ? "chat-waiting.writing" : "chat-waiting");
}

interface ReadingProps {
  reading: Reading;
  /** In milliseconds. */
  now: number;
  pictures?: number;
}

/** How far the prompt is read: in words, and below them as a bar, grey for what was remembered. */
export function ReadingLine({ reading, now, pictures = 0 }: ReadingProps) {
  const { done, total, cached, looked } = reading;
  const { read, remembered, pace } = readingParts(reading, now);
  const words = looked ? lookingLabel(pictures) : read;
  // Each bar is about one thing: how far the pictures are, or how far the text is.
  const bar = looked ?? { done, total };
  const behind = looked ? 0 : Math.min(cached, done);
  const width = (part: number) => `${bar.total > 0 ? (100 * part) / bar.total : 0}%`;
  return (
    <div className="reading">
      <p className="reading-words">
        <span className="reading-read">{words}</span>
        {remembered !== null && (
          <span className="reading-remembered">
            <Further>{remembered}</Further> <span className="term">{t("chat-reading.cached")}</span>
          </span>
        )}
        <span className="spring" />
        {pace.length > 0 && <span className="reading-pace">{pace.join(" · ")}</span>}
      </p>
      <div
        className="reading-bar"
        role="progressbar"
        aria-label={looked ? words : t("chat-reading.prompt")}
        aria-valuemin={0}
        aria-valuenow={bar.done}
        aria-valuemax={bar.total}
        data-testid="reading-bar"
      >
        <span className="reading-part remembered" style={{ width: width(behind) }} />
        <span className="reading-part" style={{ width: width(bar.done - behind) }} />
      </div>
    </div>
  );
}

/** What is said of a prompt that is read; null and empty where nothing is known. */
interface ReadingParts {
  /** Tokens read, remembered ones among them, and all. */
  read: string;
  remembered: string | null;
  /** Tokens per second and the time left. */
  pace: string[];
}

/** What is known of a prompt that is read. `now` is a time in milliseconds. */
export function readingParts({ done, total, cached, first }: Reading, now: number): ReadingParts {
  const pace: string[] = [];
  const took = (now - first.at) / 1000;
  if (took >= SETTLED && done > first.done) {
    const perSecond = (done - first.done) / took;
    pace.push(`${rate(perSecond)} tok/s`);
    if (done < total) pace.push(t("chat-reading.left", { time: wholeSeconds((total - done) / perSecond) }));
  }
  return {
    read: t("chat-reading", { done, total }),
    remembered: cached > 0 ? t("chat-reading.remembered", { count: cached }) : null,
    pace,
  };
}

/** A time that is no better known than to the second. */
const wholeSeconds = (value: number): string =>
  value < 59.5 ? t("word-seconds", { seconds: count(Math.max(1, value)) }) : seconds(value);

/** A value that changes at most once in `pause` milliseconds. */
function useThrottled<T>(value: T, pause: number): T {
  const [shown, setShown] = useState(value);
  const newest = useRef(value);
  newest.current = value;
  useEffect(() => {
    const timer = setInterval(() => setShown(newest.current), pause);
    return () => clearInterval(timer);
  }, [pause]);
  return shown;
}
