import { useState } from "react";

interface Props {
  name: string;
  label: string;
  placeholder: string;
  testId: string;
  /** Hears the new name, null where that was given up, and whether a key has ended it. */
  onDone: (name: string | null, byKey: boolean) => void;
}

/** Writes another name of something in the list. */
export function NameField({ name, label, placeholder, testId, onDone }: Props) {
  const [text, setText] = useState(name);
  return (
    <input
      // biome-ignore lint/a11y/noAutofocus: the person has just asked to rename it
      autoFocus
      className="rename"
      type="text"
      autoComplete="off"
      value={text}
      aria-label={label}
      placeholder={placeholder}
      data-testid={testId}
      data-escape
      onFocus={(event) => event.target.select()}
      onChange={(event) => setText(event.target.value)}
      onBlur={() => onDone(text, false)}
      onKeyDown={(event) => {
        if (event.key !== "Enter" && event.key !== "Escape") return;
        // The row that gets the focus is not to be opened by the same key.
        event.preventDefault();
        onDone(event.key === "Enter" ? text : null, true);
      }}
    />
  );
}
