// What appending an entry costs after ever more entries.

import { NO_SYNC, SYNC_EACH, bar, interleaved, micro, table, times } from "../harness/measure.mjs";

const HISTORIES = [10, 100, 1_000, 10_000];

export const name = "entries";
export const title = "Appending one entry to a conversation of so many";

export async function measure({ kernel }, options) {
  const modes = [
    { mode: NO_SYNC, sync: false, commits: 400 },
    { mode: SYNC_EACH, sync: true, commits: 200 },
  ];
  const results = [];
  for (const { mode, sync, commits } of modes) {
    const sides = HISTORIES.map((history) => [
      history,
      async (repetition) => {
        const run = { history, commits, sync };
        const done = await kernel(`entries ${mode} ${history} ${repetition}`, "/entries", run);
        return (done.milliseconds * 1000) / commits;
      },
    ]);
    const byHistory = await interleaved(options.repetitions, sides);
    results.push({ mode, commits, histories: HISTORIES.map((history) => ({ history, ...byHistory[history] })) });
  }
  return { results };
}

export function report({ results }) {
  const head = ["µs, min", ...HISTORIES.map((history) => history.toLocaleString("en")), "last/first"];
  const lines = results.map(({ mode, histories }) => [
    mode,
    ...histories.map(({ min }) => micro(min)),
    times(growth(histories)),
  ]);
  return table(head, lines);
}

const growth = (histories) => histories.at(-1).min / histories[0].min;

export const bars = ({ results }) =>
  results.map(({ mode, histories }) => bar("an entry after 10,000, in entries after 10", mode, growth(histories), 1.2));
