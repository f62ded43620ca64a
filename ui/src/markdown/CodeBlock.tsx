import { CopyButton } from "../components/CopyButton";

export function CodeBlock({ language, text }: { language: string; text: string }) {
  const name = /^[^\s{]*/.exec(language)?.[0] ?? "";
  return (
    <figure className="code-block">
      <figcaption>
        <span>{name || "text"}</span>
        <CopyButton text={text} label="Copy" />
      </figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable with the keyboard */}
      <pre tabIndex={0}>
        <code>{text}</code>
      </pre>
    </figure>
  );
}
