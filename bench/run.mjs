// What the kernel costs. See README.md for what is measured and what is not.
//
//   node bench/run.mjs [--only NAME,…] [--repetitions N] [--commits N] [--synced-commits N] [--state DIR] [--build DIR]
//                      [--json FILE]
//
// Needs the Worker of bench/kernel-worker in the build folder (scripts/bench does that). Prints tables and the bars, and writes
// the same with every repetition as JSON.

import { mkdir, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import os from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import { table, times } from "./harness/measure.mjs";
import { start } from "./harness/runtime.mjs";
import * as commits from "./subjects/commits.mjs";
import * as documents from "./subjects/documents.mjs";
import * as entries from "./subjects/entries.mjs";
import * as opening from "./subjects/opening.mjs";

const root = path.dirname(import.meta.dirname);
const { values } = parseArgs({
  options: {
    only: { type: "string" },
    repetitions: { type: "string", default: "11" },
    commits: { type: "string", default: "2000" },
    "synced-commits": { type: "string", default: "500" },
    // Not a disk: there everything only waits for it.
    state: { type: "string", default: "/dev/shm" },
    build: { type: "string", default: path.join(root, "target/bench/kernel-worker") },
    json: { type: "string", default: path.join(root, "target/bench/kernel.json") },
  },
});
const options = {
  repetitions: Number(values.repetitions),
  commits: Number(values.commits),
  syncedCommits: Number(values["synced-commits"]),
};

const all = [commits, entries, documents, opening];
const wanted = values.only?.split(",");
const subjects = all.filter(({ name }) => wanted?.includes(name) ?? true);
if (subjects.length === 0) throw new Error(`no subject of these names; there are ${all.map(({ name }) => name).join(", ")}`);

const runtime = await start(values);
const report = {
  options,
  versions: { node: process.version, ...versions("miniflare", "workerd", "@earendil-works/chord") },
  machine: { cpus: os.cpus().length, model: os.cpus()[0]?.model, state: values.state },
  load: { before: os.loadavg() },
  subjects: {},
  bars: [],
};
try {
  for (const subject of subjects) {
    process.stderr.write(`    … ${subject.name}\n`);
    const found = await subject.measure(runtime, options);
    report.subjects[subject.name] = found;
    report.bars.push(...subject.bars(found));
    console.log(`\n${subject.title}\n${subject.report(found)}`);
  }
} finally {
  await runtime.stop();
}
report.load.after = os.loadavg();
console.log(`\nBars\n${bars(report.bars)}\n\n${circumstances(report)}`);
await mkdir(path.dirname(values.json), { recursive: true });
await writeFile(values.json, `${JSON.stringify(report, null, 2)}\n`);
console.log(`Every repetition: ${path.relative(process.cwd(), values.json)}`);

function bars(found) {
  const rows = found.map(({ what, mode, value, bar, holds }) => [what, mode, times(value), `≤ ${times(bar)}`, holds ? "" : "missed"]);
  return table(["", "commits", "is", "bar", ""], rows);
}

function circumstances({ versions, machine, load }) {
  const names = Object.entries(versions).map(([name, version]) => `${name} ${version}`);
  const loads = [load.before, load.after].map(([minute]) => minute.toFixed(1));
  return [
    names.join(", "),
    `${machine.cpus} × ${machine.model}, load ${loads.join(" before, ")} after; ${options.repetitions} repetitions, state on ${machine.state}`,
  ].join("\n");
}

function versions(...names) {
  const require = createRequire(import.meta.url);
  return Object.fromEntries(names.map((name) => [name, require(`${name}/package.json`).version]));
}
