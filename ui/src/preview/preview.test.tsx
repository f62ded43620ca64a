// @vitest-environment happy-dom
import { cleanup, render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, describe, expect, it, vi } from "vitest";
import { bodyOf, pictureOf } from "../../preview/content";
import { Markdown } from "../markdown/Markdown";
import { kindOf } from "./kinds";

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

describe("what can be previewed", () => {
  it("is a diagram, a drawing or a page that is whole and not too long", () => {
    expect(["mermaid", "svg", "html", "htm", "js", ""].map((language) => kindOf(language, "x"))).toEqual([
      "mermaid",
      "svg",
      "html",
      "html",
      null,
      null,
    ]);
    expect(kindOf("mermaid", "x".repeat(20_001))).toBe(null);
  });

  it("is code until somebody asks, and again afterwards", async () => {
    vi.stubGlobal(
      "Worker",
      class {
        postMessage() {}
        terminate() {}
      },
    );
    const user = userEvent.setup();
    const { rerender } = render(<Markdown text={"```html\n<b>x</b>\n"} complete={false} />);
    expect(screen.queryByTestId("toggle-preview")).toBe(null);
    rerender(<Markdown text={"```html\n<b>x</b>\n```\n"} complete />);
    await user.click(screen.getByTestId("toggle-preview"));
    const frame = screen.getByTestId("preview");
    expect(frame.getAttribute("sandbox")).toBe("allow-scripts");
    expect(frame.getAttribute("src")).toBe("foretoken-preview://localhost/");
    expect(document.querySelector("pre")?.hidden).toBe(true);
    await user.click(screen.getByTestId("toggle-preview"));
    expect(screen.queryByTestId("preview")).toBe(null);
    expect(document.querySelector("pre")?.hidden).toBe(false);
  });
});

describe("a page in the frame", () => {
  it("has lost what would run, lead out or ask for something", () => {
    const place = document.createElement("div");
    place.append(
      ...bodyOf(
        '<head><base href="https://example.org"><meta http-equiv="refresh" content="0;url=x">' +
          '<link rel="dns-prefetch" href="//example.org"><style>h1 { color: red }</style></head>' +
          '<body class="page" onload="alert(1)"><h1 onclick="alert(1)">Owl</h1><script>alert(1)</script>' +
          '<iframe src="x"></iframe><object data="x"></object><embed src="x"><a href="x" ping="y" target="_top">z</a>' +
          '<svg onload="alert(1)"><circle r="1"/></svg></body>',
      ),
    );
    expect(place.querySelectorAll("script, base, meta, link, iframe, object, embed").length).toBe(0);
    for (const element of place.querySelectorAll("*"))
      for (const name of element.getAttributeNames()) expect(name).not.toMatch(/^(?:on|ping|target)/);
    expect(place.querySelector("style")?.textContent).toBe("h1 { color: red }");
    expect(place.querySelector(".page h1")?.textContent).toBe("Owl");
  });

  it("shows a drawing as a picture, whatever is in it", () => {
    const { src } = pictureOf('<svg onload="alert(1)">ü</svg>', "Drawing");
    expect(decodeURIComponent(src)).toBe('data:image/svg+xml;charset=utf-8,<svg onload="alert(1)">ü</svg>');
  });
});
