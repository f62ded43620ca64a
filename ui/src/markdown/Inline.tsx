import type { ReactNode } from "react";
import { addressOfLink } from "./address";
import { decodeEntities } from "./entities";
import { Formula } from "./Formula";
import { Link } from "./Link";
import type { FormulaToken, Token, Tokens } from "./lex";

const LINE_BREAK = /<br\s*\/?>/i;

export function Inline({ tokens }: { tokens: Token[] }): ReactNode {
  return tokens.map((token, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: pieces are only ever added at the end
    <Piece key={index} token={token} />
  ));
}

function Piece({ token }: { token: Token }): ReactNode {
  switch (token.type) {
    case "strong":
      return (
        <strong>
          <Inline tokens={(token as Tokens.Strong).tokens} />
        </strong>
      );
    case "em":
      return (
        <em>
          <Inline tokens={(token as Tokens.Em).tokens} />
        </em>
      );
    case "del":
      return (
        <del>
          <Inline tokens={(token as Tokens.Del).tokens} />
        </del>
      );
    case "codespan":
      return <code>{(token as Tokens.Codespan).text}</code>;
    case "br":
      return <br />;
    case "checkbox":
      // The item has drawn it.
      return null;
    case "link": {
      const { href, text: written, tokens } = token as Tokens.Link;
      const text = <Inline tokens={tokens} />;
      const address = addressOfLink(href, written);
      return address ? <Link address={address}>{text}</Link> : text;
    }
    case "image":
      return <span className="image">{decodeEntities((token as Tokens.Image).text) || "image"}</span>;
    case "formula":
      return <Formula {...(token as FormulaToken)} />;
    case "text":
    case "escape": {
      const { text, tokens } = token as Tokens.Text;
      return tokens ? <Inline tokens={tokens} /> : <Text text={text} literal={token.type === "escape"} />;
    }
    default:
      return token.raw;
  }
}

/** What `tokens` say, without their marks. */
export function plainText(tokens: Token[]): string {
  return tokens
    .map((token) => {
      const { type, raw, text, tokens: inner } = token as Tokens.Generic;
      if (inner) return plainText(inner);
      if (type === "br") return "\n";
      if (type === "text") return text.split(LINE_BREAK).map(decodeEntities).join("\n");
      return text ?? raw;
    })
    .join("");
}

/** Text with its character references; a line break is the one tag that means no more than it shows. */
function Text({ text, literal }: { text: string; literal: boolean }): ReactNode {
  if (literal) return text;
  const lines = text.split(LINE_BREAK);
  if (lines.length === 1) return decodeEntities(text);
  return lines.map((line, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: lines have no other name
    <span key={index}>
      {index > 0 && <br />}
      {decodeEntities(line)}
    </span>
  ));
}
