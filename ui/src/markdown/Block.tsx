import { memo } from "react";
import { t } from "../language/text";
import { CodeBlock } from "./CodeBlock";
import { Formula } from "./Formula";
import { Inline } from "./Inline";
import type { FormulaToken, Token, Tokens } from "./lex";
import { Table } from "./Table";

interface Props {
  token: Token;
}

const same = (a: Props, b: Props) =>
  a.token === b.token || (a.token.type === b.token.type && a.token.raw === b.token.raw);

/**
 * One block. It is drawn again only if its text has changed. Where things begin, left or right, is told by the first
 * letters: of all of a list, a quote or a table by `dir`, of a line of text by its style.
 */
export const Block = memo(function Block({ token }: Props) {
  // marked's union includes a token of any shape, which keeps it from being narrowed by `type`.
  switch (token.type) {
    case "paragraph":
      return (
        <p>
          <Inline tokens={(token as Tokens.Paragraph).tokens} />
        </p>
      );
    case "heading":
      return <Heading token={token as Tokens.Heading} />;
    case "code":
      return <CodeBlock token={token as Tokens.Code} />;
    case "list":
      return <List token={token as Tokens.List} />;
    case "table":
      return <Table token={token as Tokens.Table} />;
    case "blockquote":
      return (
        <blockquote dir="auto">
          <Blocks tokens={(token as Tokens.Blockquote).tokens} />
        </blockquote>
      );
    case "hr":
      return <hr />;
    case "formula":
      return (
        <div>
          <Formula {...(token as FormulaToken)} />
        </div>
      );
    case "text":
      return <Inline tokens={(token as Tokens.Text).tokens ?? [token]} />;
    default:
      return <p>{token.raw}</p>;
  }
}, same);

function Blocks({ tokens }: { tokens: Token[] }) {
  return tokens
    .filter((token) => token.type !== "space" && token.type !== "checkbox")
    .map((token, index) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: blocks are only ever added at the end
      <Block key={index} token={token} />
    ));
}

/** All are of one level to a screen reader: a model begins with any of them, and levels must not be left out. */
function Heading({ token: { depth, tokens } }: { token: Tokens.Heading }) {
  return (
    <h2 className={`heading-${Math.min(depth, 4)}`}>
      <Inline tokens={tokens} />
    </h2>
  );
}

function List({ token }: { token: Tokens.List }) {
  const items = token.items.map((item, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: items are only ever added at the end
    <Item key={index} item={item} loose={token.loose} />
  ));
  const start = typeof token.start === "number" ? token.start : 1;
  return token.ordered ? (
    <ol dir="auto" start={start}>
      {items}
    </ol>
  ) : (
    <ul dir="auto">{items}</ul>
  );
}

interface ItemProps {
  item: Tokens.ListItem;
  loose: boolean;
}

const Item = memo(
  function Item({ item, loose }: ItemProps) {
    return (
      <li className={item.task ? "task" : loose ? "loose" : undefined}>
        {item.task && (
          <input type="checkbox" checked={item.checked === true} disabled aria-label={t("markdown-task")} />
        )}
        <Blocks tokens={item.tokens} />
      </li>
    );
  },
  (a: ItemProps, b: ItemProps) => a.item.raw === b.item.raw && a.loose === b.loose,
);
