import { radios } from "./radios";

interface Props<T> {
  label: string;
  choices: readonly { name: string; value: T }[];
  /** Where among the choices the one stands that holds; negative if it is none of them. */
  at: number;
  testId: string;
  onChoose: (value: T) => void;
}

/** A few choices side by side, of which one holds. */
export function Segments<T>({ label, choices, at, testId, onChoose }: Props<T>) {
  const check = (index: number) => {
    const choice = choices[index];
    if (choice) onChoose(choice.value);
  };
  const { group, radio } = radios(label, at, check);
  return (
    <div className="segments" data-testid={testId} {...group}>
      {choices.map(({ name }, index) => (
        <button
          {...radio(index)}
          key={name}
          data-testid={`${testId}-${name.toLowerCase()}`}
          onClick={() => check(index)}
        >
          {name}
        </button>
      ))}
    </div>
  );
}
