import { Fragment, type ReactNode } from "react";
import { type Args, t } from "./text";

interface Props {
  id: string;
  args?: Args;
  /** What becomes of the words between `<name>` and `</name>`, for each name in the text. */
  parts: Record<string, (words: string) => ReactNode>;
}

/** Stands for `<` in what is named, in which nothing is a part. */
const NO_PART = "\uE000";

/** A text some of whose words are more than words: keys, links, numbers. */
export function RichText({ id, args = {}, parts }: Props) {
  const named = Object.entries(args).map(([name, value]) => [
    name,
    typeof value === "string" ? value.replaceAll("<", NO_PART) : value,
  ]);
  // Between the pieces that are words alone stand, in turn, a name and the words of its part.
  const pieces = t(id, Object.fromEntries(named))
    .split(/<(\w+)>(.*?)<\/\1>/s)
    .map((piece) => piece.replaceAll(NO_PART, "<"));
  return pieces.map((piece, at) => {
    const key = `${at}`;
    if (at % 3 === 1) return null;
    const part = at % 3 === 2 ? parts[pieces[at - 1] ?? ""] : undefined;
    return <Fragment key={key}>{part ? part(piece) : piece}</Fragment>;
  });
}
