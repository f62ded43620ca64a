import { useRef } from "react";

/** For a button that gives way to a form: where the form closes, the focus is on the button again. */
export function useComeBack(): { button: (button: HTMLButtonElement | null) => void; comeBack: () => void } {
  const comes = useRef(false);
  const button = (button: HTMLButtonElement | null) => {
    if (button === null) return;
    if (comes.current) button.focus();
    comes.current = false;
  };
  return {
    button,
    comeBack: () => {
      comes.current = true;
    },
  };
}
