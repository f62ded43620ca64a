import { setBenchmarks } from "../../src/benchmarks/store";
import { job } from "../../src/models/samples";
import { setView } from "../../src/state/store";
import { HISTORY, SIDE_BY_SIDE } from "../data/benchmarks";
import { click, drawn, find } from "../page";
import type { State } from "../state";

const open = async () => {
  setView({ screen: "benchmarks" });
  await find('[data-testid="benchmarks-screen"]');
};

/** The chart is drawn once its code is there. */
const openWithChart = async () => {
  await open();
  await find(".plot canvas");
  await drawn();
};

export const BENCHMARKS: State[] = [
  { name: "benchmarks", act: openWithChart },
  { name: "benchmarks-none", answers: { benchmarks: () => ({ ...HISTORY, benchmarks: [] }) }, act: open },
  {
    name: "benchmarks-measuring",
    library: {
      jobs: [
        job(
          1,
          { stage: "tuning" },
          { name: "Qwen3.6 27B", repo: null, kind: "benchmark", done: 3, total: 9 },
        ),
      ],
    },
    act: open,
  },
  { name: "benchmarks-plan", act: () => open().then(() => click("measure-what")) },
  {
    name: "benchmarks-history",
    act: async () => {
      await openWithChart();
      (await find('[data-testid="benchmark-history"]')).scrollIntoView();
    },
  },
  {
    name: "side-by-side",
    act: async () => {
      await openWithChart();
      setBenchmarks({ sideBySide: { stage: "done", comparison: SIDE_BY_SIDE } });
      (await find('[data-testid="side-by-side"]')).scrollIntoView();
      await click("replay-end");
    },
  },
];
