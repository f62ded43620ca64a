import { finalSpeedLine } from "../format";
import { useStore } from "../store";

/** Tells screen readers when a reply begins and ends, and nothing in between. */
export function Announcer() {
  const words = useStore((state) => {
    const last = state.messages.at(-1);
    if (last?.role !== "assistant") return "";
    if (last.status.state === "streaming") return "A reply is being written.";
    return last.stats ? `The reply has ended. ${finalSpeedLine(last.stats)}` : "The reply has ended.";
  });
  return (
    <p className="off-screen" role="status">
      {words}
    </p>
  );
}
