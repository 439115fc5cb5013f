// What it takes to open a session with a short and with a long history.

import { bar, interleaved, micro, table, times } from "../harness/measure.mjs";

const [SHORT, LONG] = [10, 50_000];

export const name = "opening";
export const title = "Opening a session and reading its root, newest head and last ten entries";

export async function measure({ kernel }, options) {
  const object = (entries) => `opening ${entries}`;
  for (const entries of [SHORT, LONG]) await kernel(object(entries), "/fill", { entries });
  // The object's clock counts whole milliseconds: a run opens the session a hundred times.
  const openings = 100;
  const open = (entries) => [
    entries,
    async () => ((await kernel(object(entries), "/open", { openings })).milliseconds * 1000) / openings,
  ];
  return { openings, results: await interleaved(options.repetitions, [open(SHORT), open(LONG)]) };
}

export function report({ results }) {
  const line = (entries) => [`${entries.toLocaleString("en")} entries`, ...["min", "median"].map((key) => micro(results[entries][key]))];
  return table(["µs", "min", "median"], [line(SHORT), line(LONG)]) + `\nlong/short: ${times(growth(results))}`;
}

const growth = (results) => results[LONG].min / results[SHORT].min;

export const bars = ({ results }) => [bar("opening 50,000 entries, in openings of 10", "no commit", growth(results), 2)];
