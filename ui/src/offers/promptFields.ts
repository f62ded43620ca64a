import type { FormField, ServerPrompt } from "../bridge/bindings";
import type { FilledForm } from "../chat/serverForm";

/** What the person fills in of a prompt, as fields. */
export const fieldsOf = ({ arguments: all }: ServerPrompt): FormField[] =>
  all.map(({ name, description, required }) => ({
    name,
    title: name,
    description: description || null,
    required,
    default: null,
    kind: { kind: "text", format: null, least: null, most: null },
  }));

/** What the server is given. What is empty is left out. */
export const givenIn = (
  { arguments: all }: ServerPrompt,
  form: FilledForm,
): { [argument in string]: string } =>
  Object.fromEntries(
    all.flatMap(({ name }) => {
      const filled = form.get(name);
      return typeof filled === "string" && /\S/.test(filled) ? [[name, filled]] : [];
    }),
  );
