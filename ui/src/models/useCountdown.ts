import { useEffect, useState } from "react";

/** Counts `seconds` down to 0, from the beginning whenever another number comes. */
export function useCountdown(seconds: number): number {
  const [from, setFrom] = useState(seconds);
  const [left, setLeft] = useState(seconds);
  if (from !== seconds) {
    setFrom(seconds);
    setLeft(seconds);
  }
  useEffect(() => {
    const end = performance.now() + seconds * 1000;
    const timer = setInterval(() => setLeft(Math.max(0, Math.ceil((end - performance.now()) / 1000))), 1000);
    return () => clearInterval(timer);
  }, [seconds]);
  return left;
}
