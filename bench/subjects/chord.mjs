// The same changes with `replicatedState` of npm's @earendil-works/chord, in this process: an immutable revision, its operations,
// one listener. No storage, no transaction, no check of what else a commit may hold.

import { replicatedState } from "@earendil-works/chord";
import { BACKGROUND_CONTEXT } from "@earendil-works/chord/context";

const EDITS = {
  field: (draft, step) => {
    draft.rows[draft.rows.length - 1].count = step;
  },
  shift: (draft, step) => {
    draft.rows.shift();
    draft.rows.push(row(10_000 + step));
  },
  text: (draft) => {
    draft.text += "x".repeat(32);
  },
};

/** Microseconds of one commit, in a state of its own. */
export function run({ edit, rows, commits }) {
  const value = edit === "text" ? { text: "t".repeat(1024 * 1024) } : { rows: Array.from({ length: rows }, (_, id) => row(id)) };
  const state = replicatedState(value);
  let seen = 0;
  state.subscribe(() => (seen += 1));
  const change = (step) => state.change(BACKGROUND_CONTEXT, (draft) => EDITS[edit](draft, step));
  const warmup = Math.ceil(commits / 10);
  for (let step = 1; step <= warmup; step += 1) change(step);
  const before = performance.now();
  for (let step = warmup + 1; step <= warmup + commits; step += 1) change(step);
  const milliseconds = performance.now() - before;
  if (seen !== warmup + commits + 1) throw new Error(`chord told ${seen} values of ${warmup + commits} changes`);
  return (milliseconds * 1000) / commits;
}

/** As the kernel's Worker makes them. */
const row = (id) => ({ id, name: `row number ${id}`, state: "open", count: 0, note: "n".repeat(60) });
