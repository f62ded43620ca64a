import { memo, useState } from "react";
import { Block } from "./Block";
import { MarkdownDocument } from "./document";
import type { Token } from "./lex";

/** Blocks that are looked at together: what a long text costs while it grows is what its last blocks cost. */
const GROUP = 32;

/** A model's text as it is written. Nothing in it can leave the page: no HTML, no navigation, no remote content. */
export function Markdown({ text, complete }: { text: string; complete: boolean }) {
  const [document] = useState(() => new MarkdownDocument());
  const blocks = document.blocks(text, complete);
  const groups = Array.from({ length: Math.ceil(blocks.length / GROUP) }, (_, index) =>
    blocks.slice(index * GROUP, (index + 1) * GROUP),
  );
  return (
    <div className="markdown">
      {groups.map((group, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: blocks are only ever added at the end
        <Group key={index} blocks={group} />
      ))}
    </div>
  );
}

interface GroupProps {
  blocks: readonly Token[];
}

/** Blocks that are drawn again only if one of them has changed. */
export const Group = memo(
  function Group({ blocks }: GroupProps) {
    return blocks.map((token, index) => (
      // A block keeps its place from its first character on.
      // biome-ignore lint/suspicious/noArrayIndexKey: blocks are only ever added at the end
      <Block key={index} token={token} />
    ));
  },
  (a: GroupProps, b: GroupProps) =>
    a.blocks.length === b.blocks.length && a.blocks.every((block, index) => block === b.blocks[index]),
);
