import { type ComponentProps, type Ref, useImperativeHandle, useLayoutEffect, useRef } from "react";

interface Props extends Omit<ComponentProps<"textarea">, "value" | "defaultValue" | "onChange" | "ref"> {
  text: string;
  onText: (text: string) => void;
  ref?: Ref<HTMLTextAreaElement>;
}

/** So many characters make the field as high as it becomes, in any window. */
const ENOUGH = 16_384;

/**
 * A field that grows with its text, up to a height. The text stays in the field and is written into it only where it
 * was changed elsewhere, so that a key in a long one costs no more than in a short one.
 */
export function GrowingField({ text, onText, ref, ...rest }: Props) {
  const field = useRef<HTMLTextAreaElement>(null);
  // What the field holds.
  const held = useRef("");
  useImperativeHandle(ref, () => field.current as HTMLTextAreaElement, []);
  useLayoutEffect(() => {
    if (field.current === null || held.current === text) return;
    field.current.value = text;
    held.current = text;
  }, [text]);
  return (
    // A copy of its beginning, not seen, gives the field its height.
    <div className="growing" data-text={text.slice(0, ENOUGH)}>
      <textarea
        {...rest}
        ref={field}
        rows={1}
        onChange={({ target }) => {
          held.current = target.value;
          onText(held.current);
        }}
      />
    </div>
  );
}
