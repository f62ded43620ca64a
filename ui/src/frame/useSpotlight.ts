import { useEffect, useRef } from "react";
import { setView, useStore } from "../state/store";

interface Options {
  /** Where in the view it comes to lie. */
  block?: ScrollLogicalPosition;
  /** Whether it has the size that it will have. */
  ready?: boolean;
}

/** Brings a row or a part into view, with the focus, once when an action has led to it. */
export function useSpotlight<T extends HTMLElement>(
  subject: string,
  { block = "nearest", ready = true }: Options = {},
) {
  const target = useRef<T>(null);
  const lit = useStore((state) => ready && state.spotlight === subject);
  useEffect(() => {
    if (!lit) return;
    target.current?.scrollIntoView({ block });
    target.current?.focus({ preventScroll: true });
    setView({ spotlight: null });
  }, [lit, block]);
  return target;
}
