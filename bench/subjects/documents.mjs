// Small changes of small and large documents, beside the same with chord, which stores nothing.

import { NO_SYNC, SYNC_EACH, bar, interleaved, micro, table, times } from "../harness/measure.mjs";
import * as chord from "./chord.mjs";

const SMALL = 8;
const LARGE = 8_137;

/** `commits` of each side so that a run takes some hundred milliseconds at most. */
const CASES = [
  { edit: "field", rows: SMALL, commits: { kernel: 400, chord: 400 } },
  { edit: "field", rows: LARGE, commits: { kernel: 400, chord: 20 } },
  { edit: "shift", rows: SMALL, commits: { kernel: 400, chord: 400 } },
  { edit: "shift", rows: LARGE, commits: { kernel: 400, chord: 20 } },
  { edit: "text", rows: 0, commits: { kernel: 100, chord: 100 } },
];

const WHAT = {
  field: "a field of the last row",
  shift: "the first row out, one in at the end",
  text: "32 bytes more of a 1 MiB text",
};

export const name = "documents";
export const title = "One small change of a document";

export async function measure({ kernel }, options) {
  const results = [];
  for (const { edit, rows, commits } of CASES) {
    const ours = (mode, sync) => [
      mode,
      async (repetition) => {
        const run = { edit, rows, commits: commits.kernel, sync };
        const done = await kernel(`documents ${mode} ${edit} ${rows} ${repetition}`, "/documents", run);
        return (done.milliseconds * 1000) / commits.kernel;
      },
    ];
    const theirs = ["chord", async () => chord.run({ edit, rows, commits: commits.chord })];
    const sides = [ours(NO_SYNC, false), theirs, ours(SYNC_EACH, true)];
    results.push({ edit, rows, commits, sides: await interleaved(options.repetitions, sides) });
  }
  return { results };
}

export function report({ results }) {
  const head = ["µs, min", "document", `kernel, ${NO_SYNC}`, `kernel, ${SYNC_EACH}`, "chord, no storage", "synced/chord"];
  const lines = results.map(({ edit, rows, sides }) => [
    WHAT[edit],
    edit === "text" ? "1 MiB text" : `${rows.toLocaleString("en")} rows`,
    micro(sides[NO_SYNC].min),
    micro(sides[SYNC_EACH].min),
    micro(sides.chord.min),
    times(sides[SYNC_EACH].min / sides.chord.min),
  ]);
  return table(head, lines);
}

export function bars({ results }) {
  const min = (edit, rows, side) =>
    results.find((result) => result.edit === edit && result.rows === rows).sides[side].min;
  const found = [];
  for (const mode of [NO_SYNC, SYNC_EACH]) {
    for (const edit of ["field", "shift"]) {
      const [small, large] = [SMALL, LARGE].map((rows) => min(edit, rows, mode));
      found.push(bar(`${WHAT[edit]}: 1 MiB of rows, in 1 KiB`, mode, large / small, 2));
      found.push(bar(`${WHAT[edit]}: 1 MiB of rows, in chord's`, mode, large / min(edit, LARGE, "chord"), 1));
    }
    found.push(bar(`${WHAT.text}, in chord's`, mode, min("text", 0, mode) / min("text", 0, "chord"), 1));
  }
  return found;
}
