import { useEffect, useRef } from "react";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { metricValue, type Series, tickLabel } from "./labels";
import type { Metric } from "./store";

export interface PlotProps {
  metric: Metric;
  /** Milliseconds since 1970, rising. */
  times: number[];
  lines: Series[];
}

const HEIGHT = 200;
const HOUR = 3_600;
const DAY = 24 * HOUR;
/** Ticks are whole days apart; those of results of few days, minutes or hours. */
const STEPS = [
  ...[60, 300, 900, 1_800, HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR],
  ...[1, 2, 7, 14, 30, 91, 182, 365, 730].map((days) => days * DAY),
];

/** A colour of the page as it is now, light or dark. */
const token = (name: string) => (): string =>
  getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/** Each number of drafts has a dash and a point of its own, so that no colour has to tell them apart. */
const DASHES: Record<number, number[]> = { 0: [], 1: [2, 3], 2: [7, 4] };

const line = ({ name, depth }: Series): uPlot.Series => {
  const colour = token(depth === 0 ? "--text-2" : "--accent");
  const filled = depth === null || depth === 3;
  return {
    label: name,
    stroke: colour,
    width: 1.5,
    dash: DASHES[depth ?? 3],
    spanGaps: true,
    points: { show: true, size: 7, width: 1.5, stroke: colour, fill: filled ? colour : token("--ground") },
  };
};

const axis = (more: uPlot.Axis): uPlot.Axis => ({
  stroke: token("--text-3"),
  font: "11px -apple-system, Inter, system-ui, sans-serif",
  grid: { stroke: token("--line"), width: 1 },
  ticks: { show: false },
  ...more,
});

function options({ metric, times, lines }: PlotProps, width: number): uPlot.Options {
  return {
    width,
    height: HEIGHT,
    padding: [12, 12, 0, 0],
    legend: { show: false },
    cursor: { show: false },
    scales: {
      // Some room on both sides: one result alone has no span, and points are not to be cut.
      x: {
        range: () => {
          const [from = 0, to = from] = [times[0], times.at(-1)].map((time) => (time ?? 0) / 1000);
          const room = Math.max(to - from === 0 ? HOUR : 60, (to - from) * 0.06);
          return [from - room, to + room];
        },
      },
      // From nothing, so that the height of a line is its value.
      y: { range: (_, __, most) => [0, most > 0 ? most * 1.15 : 1] },
    },
    axes: [
      axis({
        space: 70,
        size: 28,
        incrs: STEPS,
        values: (_, splits, __, ___, step) => splits.map((at) => tickLabel(at, step)),
      }),
      axis({
        size: 56,
        values: (_, values) => values.map((value) => (value === 0 ? "0" : metricValue(metric, value))),
      }),
    ],
    series: [{}, ...lines.map(line)],
  };
}

/** Values over time. Whoever cannot see it has a sentence and a table beside it. */
export default function Plot({ metric, times, lines }: PlotProps) {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const element = place.current;
    if (element === null) return;
    const data: uPlot.AlignedData = [times.map((time) => time / 1000), ...lines.map(({ values }) => values)];
    const plot = new uPlot(options({ metric, times, lines }, element.clientWidth), data, element);
    const resize = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height: HEIGHT }));
    resize.observe(element);
    // The colours are asked for whenever it is drawn.
    const draw = () => plot.redraw(false);
    const looks = ["(prefers-color-scheme: dark)", "(prefers-contrast: more)"].map((query) =>
      matchMedia(query),
    );
    for (const look of looks) look.addEventListener("change", draw);
    return () => {
      for (const look of looks) look.removeEventListener("change", draw);
      resize.disconnect();
      plot.destroy();
    };
  }, [metric, times, lines]);
  return <div ref={place} className="plot" aria-hidden="true" />;
}
