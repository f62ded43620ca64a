import { useEffect, useState } from "react";
import { copy } from "../clipboard";

interface Props {
  /** What is copied, or what makes it. */
  text: string | (() => string);
  label: string;
  className?: string;
  testId?: string;
}

/** Copies `text` and says so for a moment. */
export function CopyButton({ text, label, className = "quiet-button", testId }: Props) {
  const [result, setResult] = useState<string | null>(null);

  useEffect(() => {
    if (result === null) return;
    const timer = setTimeout(() => setResult(null), 1600);
    return () => clearTimeout(timer);
  }, [result]);

  const onClick = () =>
    copy(typeof text === "string" ? text : text()).then(
      () => setResult("Copied"),
      () => setResult("Could not copy"),
    );

  return (
    <button type="button" className={className} data-testid={testId} onClick={onClick}>
      <span aria-live="polite">{result ?? label}</span>
    </button>
  );
}
