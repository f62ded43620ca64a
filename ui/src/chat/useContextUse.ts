import { useShallow } from "zustand/react/shallow";
import { useGeneration, useModel, useStore } from "../state/store";
import { type ContextUse, contextUse, estimate, uncountedTexts } from "./context";
import { useTokens } from "./useTokens";

const NOTHING: string[] = [];

/** How much of the context the open chat takes. What no reply has counted yet, the model is asked to count. */
export function useContextUse(): ContextUse | null {
  const texts = useStore(useShallow(uncountedTexts));
  // What is being typed is counted once it is written.
  const typing = useStore((state) => state.repliesOpen);
  const counted = useTokens(typing ? NOTHING : texts);
  const estimated = useStore((state) => estimate(state, counted));
  return contextUse(
    useStore((state) => state.messages),
    useModel(),
    useGeneration(),
    estimated,
  );
}
