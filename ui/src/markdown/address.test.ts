import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { addressOf, addressOfLink, wholeOf } from "./address";

const shown = (written: string): string | null => {
  const address = addressOf(written);
  return address && `${address.start}[${address.host}]${address.rest}`;
};
const notes = (written: string): string => addressOf(written)?.notes.join(" ") ?? "";

describe("the address of a link", () => {
  it("is the one that a browser would make of it, with the site apart", () => {
    expect(shown("HTTPS://EVIL.example:443/%2e%2e/x?a=b#c")).toBe("https://[evil.example]/x?a=b#c");
    expect(shown("https:evil.example")).toBe("https://[evil.example]/");
    expect(shown("https:\\\\evil.example\\apple.com")).toBe("https://[evil.example]/apple.com");
    expect(shown("http://0x7f.1:8080")).toBe("http://[127.0.0.1]:8080/");
    expect(shown("https://exa\tmple.org")).toBe("https://[example.org]/");
    expect(notes("https://example.org/a?b=c")).toBe("");
  });

  it("has no name to sign in with, which could pass for the site", () => {
    expect(shown("https://apple.com@evil.example/x")).toBe("https://[evil.example]/x");
    expect(shown("https://apple.com%2Flogin:secret@evil.example")).toBe("https://[evil.example]/");
    expect(notes("https://apple.com@evil.example/x")).toBe(
      "A name to sign in with, “apple.com”, is left out: the site is evil.example.",
    );
  });

  it("shows letters that look like others", () => {
    expect(shown("https://аpple.com/")).toBe("https://[xn--pple-43d.com]/");
    expect(notes("https://аpple.com/")).toContain("“\u2068аpple.com\u2069”, with Latin and Cyrillic letters");
    expect(notes("https://xn--80ak6aa92e.com/")).toContain("“\u2068аррӏе.com\u2069”, with Cyrillic letters");
    expect(notes("https://münchen.de/")).toContain("“\u2068münchen.de\u2069”, with Latin letters");
  });

  it("shows direction marks and control characters, and has none in the site", () => {
    expect(shown("https://x.org/\u202Egpj.exe?\u200B#\u2066")).toBe(
      "https://[x.org]/%E2%80%AEgpj.exe?%E2%80%8B#%E2%81%A6",
    );
    expect(shown("https://a\u202Egro.elpmaxe/")).toBe(null);
    expect(shown("https://exa mple.org/")).toBe(null);
  });

  it("is told from another one that the text of the link names", () => {
    const told = (href: string, text: string) => addressOfLink(href, text)?.notes.join(" ");
    expect(told("https://evil.example/", "https://apple.com/account")).toBe(
      "The text of the link names another site, apple.com.",
    );
    expect(told("https://evil.example/", "www.apple.com")).toContain("www.apple.com");
    for (const text of ["https://www.Evil.example/x", "evil.example", "node.js", "the page", "https://"])
      expect(told("https://evil.example/", text), text).toBe("");
  });

  it("is one mailbox and a subject where it leads to a mail", () => {
    expect(shown("mailto:ines+owl@example.org?subject=Hi%20you")).toBe(
      "mailto:ines+owl@[example.org]?subject=Hi%20you",
    );
    expect(notes("mailto:ines@example.org?subject=Hi")).toBe("");
    const more =
      "mailto:ines@example.org,bob@x.org?body=Yes&Subject=a%0D%0ABcc:%20b@x&cc=c@x&attach=/etc/passwd";
    expect(shown(more)).toBe("mailto:ines@[example.org]?subject=a%20Bcc%3A%20b%40x");
    expect(notes(more)).toContain("Only one mailbox and the subject are kept.");
    expect(notes("mailto:ines@example.org?body=Yes")).toContain("Only one mailbox");
    expect(shown("mailto:ines@аpple.com")).toBe("mailto:ines@[xn--pple-43d.com]");
    expect(notes("mailto:ines@аpple.com")).toContain("Cyrillic");
    for (const none of [
      "mailto:",
      "mailto:ines",
      "mailto:a@b%0Abcc:c@d",
      "mailto:a@b/c",
      "mailto:a@b.example，c.example",
      "mailto:%ff@x",
      "mailto:a\u202E@x.org",
    ])
      expect(shown(none), none).toBe(null);
  });

  it("is of no other kind", () => {
    for (const none of [
      "javascript:alert(1)",
      "file:///etc/passwd",
      "/etc/passwd",
      "vscode://x",
      "",
      "https://",
    ])
      expect(addressOf(none), none).toBe(null);
  });

  it("is printable ASCII and its own address, whatever is written", () => {
    const piece = fc.oneof(
      fc.string({ unit: "grapheme" }),
      fc.constantFrom("@", ":", "/", "?", "\u202E", "аpple.com", "mailto:", "?subject="),
    );
    const written = fc
      .tuple(
        fc.constantFrom("https://", "http://", "mailto:a@", "https://x.org/"),
        fc.array(piece, { maxLength: 6 }),
      )
      .map(([start, pieces]) => start + pieces.join(""));
    fc.assert(
      fc.property(written, (written) => {
        const address = addressOf(written);
        if (address === null) return;
        const whole = wholeOf(address);
        expect(whole).toMatch(/^[\x21-\x7e]+$/);
        expect(new URL(whole).href).toBe(whole);
        expect(new URL(whole).username).toBe("");
        expect(addressOf(whole)).toMatchObject({
          start: address.start,
          host: address.host,
          rest: address.rest,
        });
      }),
      { numRuns: 2000 },
    );
  });
});
