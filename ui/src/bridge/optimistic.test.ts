import { describe, expect, it } from "vitest";
import { Optimistic } from "./optimistic";
import { SerialQueue } from "./serialQueue";

interface Value {
  one: number;
  two: number;
}

/** Something that is kept by a shell which answers when the test says so. */
function example() {
  let shown: Value = { one: 0, two: 0 };
  const sent: { change: Partial<Value>; whole: Value; answer: (refused?: Error) => void }[] = [];
  const kept = new Optimistic<Value>({
    queue: new SerialQueue(),
    get: () => shown,
    set: (value) => {
      shown = value;
    },
    send: (change, whole) =>
      new Promise<void>((done, refuse) => {
        sent.push({ change, whole, answer: (refused) => (refused ? refuse(refused) : done()) });
      }),
  });
  return { kept, sent, shown: () => shown };
}

const rest = () => new Promise((done) => setTimeout(done));

describe("what the shell keeps", () => {
  it("shows at once and is sent in order, what comes meanwhile as one", async () => {
    const { kept, sent, shown } = example();
    const first = kept.change({ one: 1 });
    await rest();
    const others = [kept.change({ one: 2 }), kept.change({ two: 3 })];
    await rest();
    expect(shown()).toEqual({ one: 2, two: 3 });
    expect(sent.map(({ whole }) => whole)).toEqual([{ one: 1, two: 0 }]);
    sent[0]?.answer();
    await first;
    await rest();
    sent[1]?.answer();
    await Promise.all(others);
    expect(sent.map(({ change }) => change)).toEqual([{ one: 1 }, { one: 2, two: 3 }]);
    expect(sent[1]?.whole).toEqual({ one: 2, two: 3 });
    expect(shown()).toEqual({ one: 2, two: 3 });
  });

  it("goes back where it is refused, and only that", async () => {
    const { kept, sent, shown } = example();
    const refused = kept.change({ one: 1 });
    await rest();
    const accepted = kept.change({ two: 2 });
    sent[0]?.answer(new Error("no"));
    await expect(refused).rejects.toThrow("no");
    expect(shown()).toEqual({ one: 0, two: 2 });
    await rest();
    expect(sent[1]?.whole).toEqual({ one: 0, two: 2 });
    sent[1]?.answer();
    await accepted;
    expect(shown()).toEqual({ one: 0, two: 2 });
  });

  it("is what the shell says of it, but for what is on the way", async () => {
    const { kept, sent, shown } = example();
    const change = kept.change({ one: 1 });
    kept.sync({ one: 5, two: 5 });
    expect(shown()).toEqual({ one: 1, two: 5 });
    await rest();
    // It holds in the shell, which could not write it.
    kept.sync({ one: 1, two: 5 });
    sent[0]?.answer(new Error("the disk is full"));
    await expect(change).rejects.toThrow();
    expect(shown()).toEqual({ one: 1, two: 5 });
    kept.sync({ one: 7, two: 7 });
    expect(shown()).toEqual({ one: 7, two: 7 });
  });
});
