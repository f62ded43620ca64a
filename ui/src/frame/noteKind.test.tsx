import { renderToStaticMarkup } from "react-dom/server";
import { describe, expect, it } from "vitest";
import { ErrorNote } from "./ErrorNote";
import { KINDS, noteKind } from "./noteKind";

describe("the kind of a note", () => {
  it("comes from the code of the error, and each that is no failure is written out", () => {
    const kinds = {
      short: [
        "out_of_memory",
        "no_room_to_measure",
        "prompt_too_large",
        "disk_full",
        "chats_full",
        "mac_too_small",
        "macs_do_not_fit",
      ],
      busy: [
        "another_model_chosen",
        "busy",
        "chat_goes_first",
        "chats_busy",
        "converting",
        "engine_busy",
        "in_use",
        "library_busy",
        "model_changed",
        "model_not_ready",
        "still_writing",
        "lender_busy",
        "pairing_busy",
      ],
      away: ["hub_unreachable", "hub_busy", "mac_lost", "peer_unreachable", "peer_silent"],
      unplugged: ["library_offline", "no_model"],
      full: ["prompt_too_long", "attachment_too_large", "attachments_too_many"],
    };
    expect([...KINDS]).toEqual(
      Object.entries(kinds).flatMap(([kind, codes]) => codes.map((code) => [code, kind])),
    );
    for (const [code, kind] of KINDS) expect(noteKind(code)).toBe(kind);
    for (const code of ["engine_stopped", "download_corrupt", "gated_no_token", "hub_refused"])
      expect(noteKind(code)).toBe("failed");
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
