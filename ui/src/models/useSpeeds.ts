import { useMemo } from "react";
import { useBenchmarks } from "../benchmarks/store";
import type { BenchmarkHistory, LocalModel, RemoteModel } from "../bridge/bindings";
import { useStore } from "../state/store";
import { whereabouts } from "./jobs";
import { axisEnd, localSpeed, remoteSpeed, type Speed } from "./speed";

/** How fast the models on the screen are. */
interface Speeds {
  local: (model: LocalModel) => Speed | null;
  /** Of a model of the Hub: as the one was measured that is here, or as it is expected. */
  remote: (model: RemoteModel) => Speed | null;
  /** The end of the axis that all of them share; 0 where there is none. */
  end: number;
}

/** The demo model is so small that beside its speed no other could be seen. */
const isDemo = ({ origin }: LocalModel) => origin === "built_in";

/** How fast the models on the screen are, all on one axis. */
export function useSpeeds(): Speeds {
  const history = useBenchmarks((state) => state.history);
  const library = useStore((state) => state.library);
  const listing = useStore((state) => state.found ?? state.catalogue);
  return useMemo(() => {
    const local = (model: LocalModel) => localSpeed(model, history);
    const remote = (model: RemoteModel) => speedOf(model, history, library);
    const here = library?.models ?? [];
    const others = axisEnd([
      ...here.filter((model) => !isDemo(model)).map(local),
      ...(listing?.models ?? []).map(remote),
    ]);
    return { local, remote, end: others > 0 ? others : axisEnd(here.map(local)) };
  }, [history, library, listing]);
}

function speedOf(
  model: RemoteModel,
  history: BenchmarkHistory | null,
  library: Parameters<typeof whereabouts>[1],
): Speed | null {
  const { local } = whereabouts(model, library);
  const here = local && localSpeed(local, history);
  return here?.measured ? here : remoteSpeed(model);
}
