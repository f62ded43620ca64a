// @vitest-environment happy-dom
import { act, renderHook } from "@testing-library/react";
import { expect, it } from "vitest";
import { useQuestion } from "./useQuestion";

it("is there again when the page begins again, until it is asked", () => {
  const page = renderHook(useQuestion);
  act(() => page.result.current[1]("What do owls eat?"));
  page.unmount();
  const again = renderHook(useQuestion);
  expect(again.result.current[0]).toBe("What do owls eat?");
  act(() => again.result.current[1](""));
  again.unmount();
  expect(renderHook(useQuestion).result.current[0]).toBe("");
});
