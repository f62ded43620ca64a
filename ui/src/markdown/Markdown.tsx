import { useState } from "react";
import { Block } from "./Block";
import { MarkdownDocument } from "./document";

/** A model's text as it is written. Nothing in it can leave the page: no HTML, no navigation, no remote content. */
export function Markdown({ text, complete }: { text: string; complete: boolean }) {
  const [document] = useState(() => new MarkdownDocument());
  const blocks = document.blocks(text, complete);
  return (
    <div className="markdown">
      {blocks.map((token, index) => (
        // A block keeps its place from its first character on.
        // biome-ignore lint/suspicious/noArrayIndexKey: blocks are only ever added at the end
        <Block key={index} token={token} />
      ))}
    </div>
  );
}
