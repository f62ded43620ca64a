import { useEffect, useRef, useState } from "react";
import type { ComparedReply, Comparison } from "../bridge/bindings";
import { t } from "../language/text";
import { acceptance, seconds, speedParts } from "../primitives/format";
import { arrived, duration, said } from "./replay";

/** Both replies as they were written, on one clock. Where nothing is to move, their ends are shown at once. */
export function Replay({ comparison }: { comparison: Comparison }) {
  const end = duration(comparison);
  const [at, setAt] = useState(() => (still() ? end : 0));
  const [playing, setPlaying] = useState(() => !still());
  useEffect(() => {
    if (!playing) return;
    let last: number | null = null;
    let frame = requestAnimationFrame(function tick(now) {
      const passed = last === null ? 0 : now - last;
      last = now;
      setAt((at) => Math.min(end, at + passed));
      frame = requestAnimationFrame(tick);
    });
    return () => cancelAnimationFrame(frame);
  }, [playing, end]);
  if (playing && at >= end) setPlaying(false);
  const play = () => {
    if (!playing && at >= end) setAt(0);
    setPlaying(!playing);
  };
  return (
    <div className="replay" data-testid="replay">
      <div className="replay-columns">
        <Column
          name={t("benchmarks-replay-plain")}
          textName={t("benchmarks-replay-plain.text")}
          testId="replay-plain"
          reply={comparison.plain}
          at={at}
          playing={playing}
        />
        <Column
          name={t("benchmarks-replay-drafted")}
          textName={t("benchmarks-replay-drafted.text")}
          testId="replay-drafted"
          reply={comparison.drafted}
          at={at}
          playing={playing}
        />
      </div>
      <div className="replay-controls numbers">
        <button type="button" className="button" data-testid="replay-play" onClick={play}>
          {t(
            playing
              ? "benchmarks-replay.pause"
              : at >= end
                ? "benchmarks-replay.again"
                : "benchmarks-replay.play",
          )}
        </button>
        <input
          type="range"
          min={0}
          max={end}
          step="any"
          value={at}
          aria-label={t("benchmarks-replay.time")}
          aria-valuetext={seconds(at / 1000)}
          data-testid="replay-time"
          onChange={(event) => {
            setPlaying(false);
            setAt(Number(event.target.value));
          }}
        />
        <span className="replay-clock">{seconds(at / 1000)}</span>
        <button
          type="button"
          className="quiet-button"
          data-testid="replay-end"
          onClick={() => {
            setPlaying(false);
            setAt(end);
          }}
        >
          {t("benchmarks-replay.end")}
        </button>
      </div>
    </div>
  );
}

const still = (): boolean => globalThis.matchMedia?.("(prefers-reduced-motion: reduce)").matches ?? true;

interface ColumnProps {
  name: string;
  /** What its text is called. */
  textName: string;
  testId: string;
  reply: ComparedReply;
  at: number;
  playing: boolean;
}

function Column({ name, textName, testId, reply, at, playing }: ColumnProps) {
  const { tokens, stats } = reply;
  const here = arrived(tokens, at);
  const { thinking, answer } = said(tokens, here);
  const text = useRef<HTMLElement>(null);
  useEffect(() => {
    // While it is written, the end stays in view.
    if (playing && here > 0) text.current?.scrollTo({ top: text.current.scrollHeight });
  }, [playing, here]);
  const ended = seconds((tokens.at(-1)?.at ?? 0) / 1000);
  return (
    <section className="replay-column" aria-label={name}>
      <h3>{name}</h3>
      <p className="replay-numbers numbers">
        {speedParts({ ...stats, acceptance: acceptance(stats) }).join(" · ")}
      </p>
      <section
        ref={text}
        className="replay-text"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable with the keyboard
        tabIndex={0}
        aria-label={textName}
        data-testid={testId}
      >
        {thinking !== "" && <span className="soft">{thinking}</span>}
        {thinking !== "" && answer !== "" && "\n\n"}
        {answer}
      </section>
      <p className="replay-numbers soft numbers">
        {here === tokens.length
          ? t("benchmarks-replay.done", { here, all: tokens.length, time: ended })
          : t("benchmarks-replay.written", { here, all: tokens.length })}
      </p>
    </section>
  );
}
