// Interleaved repetitions, and what is told of them.

/** How commits are made durable, as it is named in every figure. */
export const SYNC_EACH = "sync each";
export const NO_SYNC = "no sync";

/**
 * Runs every side once in each repetition, in an order that turns around from one to the next, and drops the first repetition,
 * which warms up. `sides` are `[name, run]`; `run(repetition)` answers the microseconds of one commit. Returns by name
 * `{min, median, times}`.
 */
export async function interleaved(repetitions, sides) {
  const times = new Map(sides.map(([name]) => [name, []]));
  for (let repetition = 0; repetition <= repetitions; repetition += 1) {
    const order = repetition % 2 === 0 ? sides : sides.toReversed();
    for (const [name, run] of order) {
      const time = await run(repetition);
      if (repetition > 0) times.get(name).push(time);
    }
  }
  return Object.fromEntries([...times].map(([name, times]) => [name, summary(times)]));
}

const summary = (times) => ({ min: Math.min(...times), median: median(times), times });

function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** How two summaries compare. */
export const ratio = (one, other) => ({ mins: one.min / other.min, medians: one.median / other.median });

/** One figure beside its bar: `{what, mode, value, bar}`, where `bar` is the most it may be. */
export const bar = (what, mode, value, most) => ({ what, mode, value, bar: most, holds: value <= most });

/** Columns as wide as their widest cell, the first to the left. */
export function table(head, rows) {
  const cells = [head, ...rows].map((row) => row.map(String));
  const widths = head.map((_, column) => Math.max(...cells.map((row) => row[column].length)));
  const line = (row) => row.map((cell, i) => (i === 0 ? cell.padEnd(widths[i]) : cell.padStart(widths[i]))).join("  ");
  return cells.map(line).join("\n");
}

export const micro = (value) => (value >= 1000 ? value.toFixed(0) : value.toFixed(1));
export const times = (value) => value.toFixed(2);
