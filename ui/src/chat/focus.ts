/** Lets the person write the next message. */
export function focusComposer(): void {
  document.querySelector<HTMLElement>("[data-testid=composer]")?.focus({ preventScroll: true });
}
