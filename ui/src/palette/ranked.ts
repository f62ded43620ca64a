/** What holds all words of `query`, those whose name begins with it first. */
export function ranked<T extends { name: string }>(all: T[], query: string): T[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  const fitting = all.filter(({ name }) => words.every((word) => name.toLowerCase().includes(word)));
  const begins = ({ name }: T) => name.toLowerCase().startsWith(words.join(" "));
  return words.length === 0 ? fitting : [...fitting.filter(begins), ...fitting.filter((one) => !begins(one))];
}
