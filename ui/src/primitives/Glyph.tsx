/** The widest glyph: squares that stand for words in a row. */
const MOST = 3;

/**
 * What Foretoken is about, as a row of squares: the filled one is the model's own word, the hollow ones are guessed
 * ahead of it.
 */
export function Glyph({ guesses }: { guesses: number }) {
  const hollow = Array.from({ length: Math.min(guesses, MOST) }, (_, index) => 13.8 + 13 * index);
  const width = 12 + 13 * hollow.length;
  return (
    <svg className="glyph" viewBox={`0 0 ${width} 12`} width={width} height="12" aria-hidden="true">
      <rect className="glyph-own" y="0.5" width="11" height="11" rx="3" />
      {hollow.map((x) => (
        <rect key={x} className="glyph-guess" x={x} y="1.8" width="8.4" height="8.4" rx="2" />
      ))}
    </svg>
  );
}
