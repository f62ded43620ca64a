import { useEffect, useRef, useState } from "react";
import { t } from "../language/text";
import type { Kind } from "./kinds";

/** The frame's own place: nothing of the page can be reached from there. */
const FRAME = "foretoken-preview://localhost/";
/** How high the frame is, in pixels, whatever it says of its content. */
const LEAST = 60;
const MOST = 640;

function nameOf(kind: Kind): string {
  switch (kind) {
    case "mermaid":
      return t("preview-diagram");
    case "svg":
      return t("preview-drawing");
    case "html":
      return t("preview-page");
  }
}

/** What the frame says of it: it has no texts of its own. */
const wordsOf = (kind: Kind) => ({
  name: nameOf(kind),
  tooMuch: t("preview-too-much"),
  failed: t("preview-diagram-failed"),
});

/** A diagram, a drawing or a page as it looks, in a frame that runs nothing of it and fetches nothing. */
export function Preview({ kind, text }: { kind: Kind; text: string }) {
  const frame = useRef<HTMLIFrameElement>(null);
  const [height, setHeight] = useState(LEAST);
  useEffect(() => {
    const onMessage = ({ source, data }: MessageEvent<unknown>) => {
      const inside = frame.current?.contentWindow;
      if (!inside || source !== inside) return;
      // Its origin has no name that it could be sent to.
      if (data === "ready") inside.postMessage({ kind, text, words: wordsOf(kind) }, "*");
      else if (typeof data === "number" && data > 0)
        setHeight(Math.min(Math.max(Math.ceil(data), LEAST), MOST));
    };
    addEventListener("message", onMessage);
    return () => removeEventListener("message", onMessage);
  }, [kind, text]);
  return (
    <iframe
      ref={frame}
      className="preview"
      title={nameOf(kind)}
      data-testid="preview"
      sandbox="allow-scripts"
      referrerPolicy="no-referrer"
      src={FRAME}
      style={{ height }}
    />
  );
}
