import { Fragment, type ReactNode } from "react";
import { type Args, t } from "./text";

interface Props {
  id: string;
  args?: Args;
  /** What becomes of the words between `<name>` and `</name>`, for each name in the text. */
  parts: Record<string, (words: string) => ReactNode>;
}

/** A text some of whose words are more than words: keys, links, numbers. */
export function RichText({ id, args, parts }: Props) {
  // Between the pieces that are words alone stand, in turn, a name and the words of its part.
  const pieces = t(id, args).split(/<(\w+)>(.*?)<\/\1>/s);
  return pieces.map((piece, at) => {
    const key = `${at}`;
    if (at % 3 === 1) return null;
    const name = at % 3 === 2 ? pieces[at - 1] : undefined;
    const part = name === undefined ? undefined : parts[name];
    return <Fragment key={key}>{part ? part(piece) : piece}</Fragment>;
  });
}
