// What a kernel commit costs beside the bare writes it makes. See README.md for what is measured and what is not.
//
//   node bench/run.mjs [--repetitions N] [--commits N] [--synced-commits N] [--state DIR] [--build DIR] [--json FILE]
//
// Needs the Worker of bench/kernel-worker in the build folder (scripts/bench does that). Prints a table, and writes the same numbers
// with every repetition as JSON.

import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import os from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import { Log, LogLevel, Miniflare } from "miniflare";
import { parse as parseToml } from "smol-toml";

const here = import.meta.dirname;
const root = path.dirname(here);
const kernelFolder = path.join(here, "kernel-worker");

const { values: options } = parseArgs({
  options: {
    repetitions: { type: "string", default: "11" },
    commits: { type: "string", default: "2000" },
    "synced-commits": { type: "string", default: "500" },
    // Not a disk: there both sides only wait for it.
    state: { type: "string", default: "/dev/shm" },
    build: { type: "string", default: path.join(root, "target/bench/kernel-worker") },
    json: { type: "string", default: path.join(root, "target/bench/kernel.json") },
  },
});

const WARMUP = 100;
const modes = [
  { name: "no sync", sync: false, commits: Number(options.commits) },
  { name: "sync each", sync: true, commits: Number(options["synced-commits"]) },
];
const repetitions = Number(options.repetitions);

const state = await mkdtemp(path.join(options.state, "tidehold-bench-"));
const miniflare = new Miniflare(await configuration(state));
try {
  await miniflare.ready;
  const report = await measure();
  await mkdir(path.dirname(options.json), { recursive: true });
  await writeFile(options.json, `${JSON.stringify(report, null, 2)}\n`);
  print(report);
  console.log(`\nEvery repetition: ${path.relative(process.cwd(), options.json)}`);
} finally {
  await miniflare.dispose();
  await rm(state, { recursive: true, force: true });
}

/** Two Workers in one workerd: same process, same SQLite, same state folder. */
async function configuration(state) {
  const { compatibility_date: compatibilityDate } = parseToml(
    await readFile(path.join(kernelFolder, "wrangler.toml"), "utf8"),
  );
  const build = path.resolve(options.build);
  const objects = (className) => ({ OBJECTS: { className, useSQLite: true } });
  return {
    cf: false,
    log: new Log(LogLevel.WARN),
    durableObjectsPersist: state,
    workers: [
      {
        name: "kernel",
        compatibilityDate,
        modulesRoot: build,
        modules: [
          { type: "ESModule", path: path.join(build, "index.js") },
          { type: "CompiledWasm", path: path.join(build, "index_bg.wasm") },
        ],
        durableObjects: objects("KernelObject"),
      },
      {
        name: "raw",
        compatibilityDate,
        modulesRoot: here,
        modules: [{ type: "ESModule", path: path.join(here, "raw-object.mjs") }],
        durableObjects: objects("RawObject"),
      },
    ],
  };
}

async function measure() {
  const kernel = await miniflare.getDurableObjectNamespace("OBJECTS", "kernel");
  const raw = await miniflare.getDurableObjectNamespace("OBJECTS", "raw");
  const workload = await ask(kernel, "workload", "GET", "/workload");
  const sides = {
    kernel: (name, run) => ask(kernel, name, "POST", "/run", run),
    raw: (name, run) => ask(raw, name, "POST", "/run", { ...run, workload }),
  };

  const loadBefore = os.loadavg();
  // [mode][side] = microseconds per commit of each repetition
  const times = Object.fromEntries(modes.map(({ name }) => [name, { kernel: [], raw: [] }]));
  const rows = { kernel: 0, raw: 0 };
  // The first repetition warms up the runtime and is dropped. Every run has an object of its own, so that no side or
  // repetition has the larger database.
  for (let repetition = 0; repetition <= repetitions; repetition += 1) {
    for (const { name, sync, commits } of modes) {
      const order = repetition % 2 === 0 ? ["raw", "kernel"] : ["kernel", "raw"];
      for (const side of order) {
        const done = await sides[side](`${name} ${repetition}`, { commits, warmup: WARMUP, sync });
        if (repetition === 0) continue;
        times[name][side].push((done.milliseconds * 1000) / commits);
        rows[side] = done.rows / commits;
      }
    }
    process.stderr.write(`    … repetition ${repetition} of ${repetitions}\n`);
  }
  return {
    what: "one commit: an entry, a change of a task, a document delta; microseconds per commit",
    repetitions,
    warmup: WARMUP,
    commits: Object.fromEntries(modes.map(({ name, commits }) => [name, commits])),
    versions: {
      node: process.version,
      miniflare: versionOf("miniflare"),
      workerd: versionOf("workerd"),
    },
    machine: { cpus: os.cpus().length, model: os.cpus()[0]?.model, state: options.state },
    load: { before: loadBefore, after: os.loadavg() },
    rows,
    results: modes.map(({ name }) => resultOf(name, times[name])),
  };
}

function resultOf(mode, { kernel, raw }) {
  const summary = (times) => ({ min: Math.min(...times), median: median(times), times });
  const [ours, floor] = [summary(kernel), summary(raw)];
  return {
    mode,
    kernel: ours,
    raw: floor,
    ratio: { ofMins: ours.min / floor.min, ofMedians: ours.median / floor.median },
  };
}

async function ask(namespace, object, method, route, body) {
  const stub = namespace.get(namespace.idFromName(object));
  const answer = await stub.fetch(`http://object${route}`, { method, body: body && JSON.stringify(body) });
  if (!answer.ok) throw new Error(`${object}: ${answer.status} ${await answer.text()}`);
  return answer.json();
}

function print({ results, rows, versions, load, machine, repetitions, commits }) {
  const micro = (value) => value.toFixed(1).padStart(8);
  const table = results.map(({ mode, kernel, raw, ratio }) =>
    [
      mode.padEnd(10),
      ...[kernel.min, kernel.median, raw.min, raw.median].map(micro),
      ratio.ofMins.toFixed(2).padStart(8),
      ratio.ofMedians.toFixed(2).padStart(9),
    ].join(" "),
  );
  console.log(
    [
      "",
      "One commit (entry + task change + document delta), µs",
      "             kernel   kernel      raw      raw   kernel/raw",
      "                min   median      min   median     mins   medians",
      ...table,
      "",
      `Rows billed per commit: kernel ${rows.kernel.toFixed(2)}, raw ${rows.raw.toFixed(2)}. The bar: a ratio of 2.5, synced.`,
      `${repetitions} repetitions, ${Object.values(commits).join(" and ")} commits each, state on ${machine.state}`,
      `node ${versions.node}, miniflare ${versions.miniflare}, workerd ${versions.workerd}`,
      `${machine.cpus} × ${machine.model}, load ${load.before[0].toFixed(1)} before, ${load.after[0].toFixed(1)} after`,
    ].join("\n"),
  );
}

function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

function versionOf(name) {
  return createRequire(import.meta.url)(`${name}/package.json`).version;
}
