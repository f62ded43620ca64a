// @vitest-environment happy-dom
import { cleanup, render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { useState } from "react";
import { afterEach, describe, expect, it, vi } from "vitest";
import { Sheet } from "./Sheet";

afterEach(cleanup);

function Page() {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <button type="button" data-testid="opener" onClick={() => setOpen(true)}>
        Tags
      </button>
      <input data-testid="behind" />
      <Sheet
        open={isOpen}
        onClose={() => setOpen(false)}
        title="Tags"
        testId="sheet"
        foot={
          <button type="button" data-testid="keep">
            Keep
          </button>
        }
      >
        <input data-testid="tags" />
      </Sheet>
    </>
  );
}

async function open() {
  const user = userEvent.setup();
  render(<Page />);
  await user.click(screen.getByTestId("opener"));
  const sheet = await screen.findByTestId("sheet");
  await vi.waitFor(() => expect(sheet.contains(document.activeElement)).toBe(true));
  return { user, sheet };
}

const isClosed = () => vi.waitFor(() => expect(screen.queryByTestId("sheet")).toBe(null));

describe("a sheet", () => {
  it.each(["{Tab}", "{Shift>}{Tab}{/Shift}"])("keeps the focus in itself with %s", async (key) => {
    const { user, sheet } = await open();
    const reached = new Set<Element | null>();
    for (let presses = 0; presses < 9; presses += 1) {
      await user.keyboard(key);
      await vi.waitFor(() => expect(sheet.contains(document.activeElement)).toBe(true));
      reached.add(document.activeElement);
    }
    for (const id of ["tags", "keep"]) expect(reached).toContain(screen.getByTestId(id));
  });

  it("closes with Escape, and gives the focus back to what opened it", async () => {
    const { user } = await open();
    await user.keyboard("{Escape}");
    await isClosed();
    await vi.waitFor(() => expect(document.activeElement).toBe(screen.getByTestId("opener")));
  });

  it("closes with its button", async () => {
    const { user } = await open();
    await user.click(screen.getByLabelText("Close"));
    await isClosed();
    await vi.waitFor(() => expect(document.activeElement).toBe(screen.getByTestId("opener")));
  });

  it("closes with a click outside", async () => {
    const { user } = await open();
    await user.click(document.querySelector(".sheet-backdrop") as HTMLElement);
    await isClosed();
  });
});
