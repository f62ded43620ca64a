import { pieces } from "./visible";

/** A text in which hidden characters are drawn by their names. */
export function VisibleText({ text }: { text: string }) {
  return pieces(text).map((piece, index) =>
    piece.hidden ? (
      // biome-ignore lint/suspicious/noArrayIndexKey: the pieces of a text stay in their order
      <span key={index} className="hidden-character">
        {piece.text}
      </span>
    ) : (
      piece.text
    ),
  );
}
