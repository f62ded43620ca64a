import { renderToStaticMarkup } from "react-dom/server";
import { describe, expect, it } from "vitest";
import { CrashList } from "./Crashes";

describe("crashes", () => {
  const crash = {
    file: "foretoken-2026-11-20-101112.ips",
    program: "foretoken",
    at: "2026-11-20 10:11",
    exception: "EXC_BAD_ACCESS (SIGSEGV)",
  };

  it("are told with their time and what they were, and not at all where there were none", () => {
    const drawn = (crashes: (typeof crash)[]) =>
      renderToStaticMarkup(<CrashList crashes={crashes} onReveal={() => {}} />);
    expect(drawn([])).toBe("");
    const text = drawn([crash]).replaceAll(/<[^>]*>/g, "");
    expect(text).toContain("2026-11-20 10:11 foretoken: EXC_BAD_ACCESS (SIGSEGV)");
  });
});
