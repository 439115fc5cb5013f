// A kernel commit beside the bare writes it makes.

import { NO_SYNC, SYNC_EACH, bar, interleaved, micro, ratio, table, times } from "../harness/measure.mjs";

const WARMUP = 100;

export const name = "commits";
export const title = "One commit: an entry, a change of a task, a document delta";

export async function measure({ kernel, raw }, options) {
  const workload = await kernel("workload", "/workload");
  const modes = [
    { mode: NO_SYNC, sync: false, commits: options.commits },
    { mode: SYNC_EACH, sync: true, commits: options.syncedCommits },
  ];
  const rows = {};
  const results = [];
  for (const { mode, sync, commits } of modes) {
    // Every run has an object of its own, so that no side or repetition has the larger database.
    const side = (name, ask, more) => [
      name,
      async (repetition) => {
        const run = { commits, warmup: WARMUP, sync, ...more };
        const done = await ask(`commits ${mode} ${repetition}`, "/commits", run);
        rows[name] = done.rows / commits;
        return (done.milliseconds * 1000) / commits;
      },
    ];
    const times = await interleaved(options.repetitions, [side("raw", raw, { workload }), side("kernel", kernel, {})]);
    results.push({ mode, commits, ...times, ratio: ratio(times.kernel, times.raw) });
  }
  return { rows, results };
}

export function report({ rows, results }) {
  const lines = results.map(({ mode, kernel, raw, ratio }) => [
    mode,
    ...[kernel.min, kernel.median, raw.min, raw.median].map(micro),
    times(ratio.mins),
    times(ratio.medians),
  ]);
  const head = ["µs", "kernel min", "median", "raw min", "median", "kernel/raw mins", "medians"];
  return `${table(head, lines)}\nRows billed per commit: kernel ${rows.kernel.toFixed(2)}, raw ${rows.raw.toFixed(2)}`;
}

export const bars = ({ results }) =>
  results
    .filter(({ mode }) => mode === SYNC_EACH)
    .map(({ mode, ratio }) => bar("a kernel commit, in raw ones", mode, ratio.mins, 2));
