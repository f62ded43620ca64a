import { memo } from "react";
import { CodeBlock } from "./CodeBlock";
import { Inline } from "./Inline";
import type { Token, Tokens } from "./lex";

interface Props {
  token: Token;
}

const same = (a: Props, b: Props) =>
  a.token === b.token || (a.token.type === b.token.type && a.token.raw === b.token.raw);

/** One block. It is drawn again only if its text has changed. */
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
      return <CodeBlock language={(token as Tokens.Code).lang ?? ""} text={(token as Tokens.Code).text} />;
    case "list":
      return <List token={token as Tokens.List} />;
    case "table":
      return <Table token={token as Tokens.Table} />;
    case "blockquote":
      return (
        <blockquote>
          <Blocks tokens={(token as Tokens.Blockquote).tokens} />
        </blockquote>
      );
    case "hr":
      return <hr />;
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

function Heading({ token }: { token: Tokens.Heading }) {
  const text = <Inline tokens={token.tokens} />;
  // The page's own headings are the first two levels.
  switch (token.depth) {
    case 1:
      return <h3 className="heading-1">{text}</h3>;
    case 2:
      return <h4 className="heading-2">{text}</h4>;
    case 3:
      return <h5 className="heading-3">{text}</h5>;
    default:
      return <h6 className="heading-4">{text}</h6>;
  }
}

function List({ token }: { token: Tokens.List }) {
  const items = token.items.map((item, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: items are only ever added at the end
    <Item key={index} item={item} loose={token.loose} />
  ));
  const start = typeof token.start === "number" ? token.start : 1;
  return token.ordered ? <ol start={start}>{items}</ol> : <ul>{items}</ul>;
}

interface ItemProps {
  item: Tokens.ListItem;
  loose: boolean;
}

const Item = memo(
  function Item({ item, loose }: ItemProps) {
    return (
      <li className={item.task ? "task" : loose ? "loose" : undefined}>
        {item.task && <input type="checkbox" checked={item.checked === true} disabled aria-label="Task" />}
        <Blocks tokens={item.tokens} />
      </li>
    );
  },
  (a: ItemProps, b: ItemProps) => a.item.raw === b.item.raw && a.loose === b.loose,
);

function Table({ token }: { token: Tokens.Table }) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for what is filled in, and a section would be a landmark
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable with the keyboard
    <div className="table-scroll" role="group" tabIndex={0} aria-label="Table">
      <table>
        <thead>
          <Row cells={token.header} />
        </thead>
        <tbody>
          {token.rows.map((cells, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: rows are only ever added at the end
            <Row key={index} cells={cells} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface RowProps {
  cells: Tokens.TableCell[];
}

const Row = memo(
  function Row({ cells }: RowProps) {
    return (
      <tr>
        {cells.map((cell, index) => {
          const Cell = cell.header ? "th" : "td";
          return (
            // biome-ignore lint/suspicious/noArrayIndexKey: a cell is its column
            <Cell key={index} className={cell.align ? `align-${cell.align}` : undefined}>
              <Inline tokens={cell.tokens} />
            </Cell>
          );
        })}
      </tr>
    );
  },
  (a: RowProps, b: RowProps) =>
    a.cells.length === b.cells.length && a.cells.every((cell, index) => cell.text === b.cells[index]?.text),
);
