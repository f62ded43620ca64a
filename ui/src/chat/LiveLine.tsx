import { useEffect, useRef, useState } from "react";
import type { LiveStats } from "../bridge/bindings";
import { count, rate, seconds, speedParts } from "../primitives/format";
import type { LiveReply, Reading } from "../state/server";
import { useStore } from "../state/store";
import { Further } from "./Further";
import { Pulse } from "./Pulse";

/** Columns of the pulse while a reply is written. */
const COLUMNS = 22;
/** How often the words change while a prompt is read, in milliseconds: as often as the numbers of a reply. */
const CALM = 250;
/** Reading that began less than this many seconds ago tells nothing of its rate. */
const SETTLED = 0.5;

/** What a reply does while it is written. Its height, and the place of each number, stay as they are. */
export function LiveLine({ live }: { live: LiveReply | undefined }) {
  const pulse = useStore((state) => state.preferences.pulse);
  const reading = useThrottled(live?.reading ?? null, CALM);
  return (
    <div className="reply-foot live-line numbers" data-testid="live-line" aria-live="off">
      {live?.reading ? (
        <ReadingLine reading={reading ?? live.reading} now={performance.now()} />
      ) : live?.stats ? (
        <>
          {pulse && <Pulse passes={live.stats.passes} columns={COLUMNS} />}
          <Numbers stats={live.stats} />
        </>
      ) : (
        waitingLabel(live)
      )}
    </div>
  );
}

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
  if (live && live.ahead !== null)
    return live.ahead === 0 ? "waiting for its turn" : `waiting for its turn, ${count(live.ahead)} before it`;
  return live?.answer || live?.thinking ? "writing" : "waiting";
}

/** How far the prompt is read. `now` is a time in milliseconds. */
export function ReadingLine({ reading, now }: { reading: Reading; now: number }) {
  const { done, total } = reading;
  return (
    <>
      <progress
        className="reading-bar"
        value={done}
        max={total}
        aria-label="Reading the prompt"
        data-testid="reading-bar"
      />
      <span>{readingLabel(reading, now)}</span>
    </>
  );
}

/** The same in words: tokens read, remembered ones among them, rate and time left. */
export function readingLabel({ done, total, cached, first }: Reading, now: number): string {
  const words = [`reading ${count(done)} of ${count(total)}`];
  if (cached > 0) words.push(`${count(cached)} cached`);
  const took = (now - first.at) / 1000;
  if (took >= SETTLED && done > first.done) {
    const perSecond = (done - first.done) / took;
    words.push(`${perSecond >= 1000 ? `${rate(perSecond / 1000)}k` : rate(perSecond)} tok/s`);
    if (done < total) words.push(`${seconds((total - done) / perSecond)} left`);
  }
  return words.join(" · ");
}

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
