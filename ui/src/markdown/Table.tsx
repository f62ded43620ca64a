import { memo } from "react";
import { t } from "../language/text";
import { CopyButton } from "../primitives/CopyButton";
import { Inline, plainText } from "./Inline";
import type { Tokens } from "./lex";

export function Table({ token }: { token: Tokens.Table }) {
  return (
    <div className="table-block">
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset is for input, and a section would be a landmark */}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable with the keyboard */}
      <div className="table-scroll" role="group" tabIndex={0} aria-label={t("markdown-table")}>
        <table dir="auto">
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
      <CopyButton
        text={() => cellsOf(token)}
        label={t("markdown-table.copy")}
        className="quiet-button table-copy"
      />
    </div>
  );
}

/** The table as spreadsheets take it: a line for each row, with tabs between the cells. */
function cellsOf({ header, rows }: Tokens.Table): string {
  const cell = ({ tokens }: Tokens.TableCell) => plainText(tokens).replace(/\s+/g, " ").trim();
  return [header, ...rows].map((row) => row.map(cell).join("\t")).join("\n");
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
