import { memo, useMemo } from "react";
import { cut, isLong } from "./cut";

/**
 * A text as it is written. A long one is in pieces: as one, it would be drawn as a whole with each turn of the wheel.
 */
export const LongText = memo(function LongText({ text }: { text: string }) {
  const pieces = useMemo(() => cut(text), [text]);
  if (!isLong(text)) return text;
  // biome-ignore lint/suspicious/noArrayIndexKey: the pieces of a text stay in their order
  return pieces.map((piece, index) => <div key={index}>{piece}</div>);
});
