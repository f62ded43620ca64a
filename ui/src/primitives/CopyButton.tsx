import { useEffect, useState } from "react";
import { t } from "../language/text";
import { ActionButton } from "./ActionButton";
import { type Copied, copy } from "./clipboard";

interface Props {
  /** What is copied, or what makes it. */
  text: string | (() => Copied);
  label: string;
  /** Why there is nothing to copy yet; null if there is. */
  reason?: string | null;
  className?: string;
  testId?: string;
}

/** Copies a text or a picture and says so for a moment. */
export function CopyButton({ text, label, reason = null, className = "quiet-button", testId }: Props) {
  const [result, setResult] = useState<string | null>(null);

  useEffect(() => {
    if (result === null) return;
    const timer = setTimeout(() => setResult(null), 1600);
    return () => clearTimeout(timer);
  }, [result]);

  const onClick = () =>
    copy(typeof text === "string" ? text : text()).then(
      () => setResult(t("word-copied")),
      () => setResult(t("word-not-copied")),
    );

  return (
    <ActionButton className={className} data-testid={testId} reason={reason} onClick={onClick}>
      <span aria-live="polite">{result ?? label}</span>
    </ActionButton>
  );
}
