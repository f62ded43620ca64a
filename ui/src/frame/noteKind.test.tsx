import { renderToStaticMarkup } from "react-dom/server";
import { describe, expect, it } from "vitest";
import { ErrorNote } from "./ErrorNote";
import { noteKind } from "./noteKind";

describe("the kind of a note", () => {
  it("comes from the code of the error", () => {
    const kinds = [
      ["out_of_memory", "short"],
      ["disk_full", "short"],
      ["hub_unreachable", "away"],
      ["library_offline", "unplugged"],
      ["engine_stopped", "failed"],
      ["download_corrupt", "failed"],
    ];
    expect(kinds.map(([code = ""]) => [code, noteKind(code)])).toEqual(kinds);
  });

  it("is a failure for codes that nobody has heard of, such as names of an object's own", () => {
    expect(noteKind("from_a_later_version")).toBe("failed");
    expect(noteKind("constructor")).toBe("failed");
  });
});

describe("a note of an error", () => {
  const error = { code: "hub_unreachable", message: "The Hub cannot be reached.", hint: "Try later." };

  it("is a sign, what happened, what to do, and then the actions", () => {
    const drawn = renderToStaticMarkup(
      <ErrorNote
        error={error}
        testId="broken"
        actions={
          <button type="button" className="button primary">
            Try now
          </button>
        }
      >
        <p>More.</p>
      </ErrorNote>,
    );
    expect(drawn).toMatch(/role="alert" data-testid="broken"/);
    expect(drawn).toMatch(
      /sign away.*aria-hidden="true".*The Hub cannot be reached\..*Try later\..*More\..*actions.*Try now/,
    );
  });

  it("has no empty lines", () => {
    const drawn = renderToStaticMarkup(<ErrorNote error={{ ...error, hint: "" }} />);
    expect(drawn).not.toContain("signed-hint");
    expect(drawn).not.toContain("actions");
  });
});
