// Runs a built Worker in workerd on 127.0.0.1, over a state folder that outlives the process.
//
//   node tests/support/server.mjs [--port N] [--state DIR] [--build DIR] [--wrangler FILE] [--dev-vars]
//                                 [--var NAME=VALUE]… [--objects FILE] [--unique-key KEY] [--with-parent]
//
// Bindings, class names and dates come from the wrangler file, so that what is tested is what is deployed; `--var` adds
// or replaces a variable; `--objects` takes the object classes from a script, to see how the Worker bears objects that fail
// it; `--unique-key` names the objects' place in the state folder, for a Worker that takes over those of another one;
// `--with-parent` ends with whoever holds stdin. Prints one JSON line `{"ready": URL}` on stdout;
// the runtime's log goes to stderr. Node and workerd form one process group when this is started as its leader: kill
// the group, never a name.

import { readFileSync } from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";
import { Log, LogLevel, Miniflare } from "miniflare";
import { parse as parseToml } from "smol-toml";

const root = path.resolve(import.meta.dirname, "../..");

const { values: options } = parseArgs({
  options: {
    port: { type: "string", default: "0" },
    state: { type: "string", default: path.join(root, ".wrangler/state/v3/do") },
    build: { type: "string", default: path.resolve(root, process.env.TIDEHOLD_BUILD ?? "build") },
    wrangler: { type: "string", default: path.join(root, "wrangler.toml") },
    "dev-vars": { type: "boolean", default: false },
    objects: { type: "string" },
    "unique-key": { type: "string" },
    "with-parent": { type: "boolean", default: false },
    var: { type: "string", multiple: true, default: [] },
  },
});

/** stdout carries the ready line only. */
class StderrLog extends Log {
  log(message) {
    process.stderr.write(`${message}\n`);
  }
}

const config = parseToml(readFileSync(options.wrangler, "utf8"));
const sqlite = new Set((config.migrations ?? []).flatMap((migration) => migration.new_sqlite_classes ?? []));
const build = path.resolve(options.build);

const product = {
  name: config.name,
  modulesRoot: build,
  modules: [
    { type: "ESModule", path: path.join(build, "index.js") },
    { type: "CompiledWasm", path: path.join(build, "index_bg.wasm") },
  ],
  compatibilityDate: config.compatibility_date,
  compatibilityFlags: config.compatibility_flags ?? [],
  bindings: { ...config.vars, ...devVars(), ...flagVars() },
  durableObjects: Object.fromEntries(
    config.durable_objects.bindings.map(({ name, class_name }) => [
      name,
      {
        className: class_name,
        useSQLite: sqlite.has(class_name),
        ...(options.objects && { scriptName: "objects" }),
        ...(options["unique-key"] && { unsafeUniqueKey: options["unique-key"] }),
      },
    ]),
  ),
};
const workers = [product];
if (options.objects) {
  const script = readFileSync(options.objects, "utf8");
  workers.push({ name: "objects", modules: true, script, compatibilityDate: config.compatibility_date });
}

const miniflare = new Miniflare({
  host: "127.0.0.1",
  port: Number(options.port),
  // The lookup of request.cf asks the network and helps nobody here.
  cf: false,
  log: new StderrLog(LogLevel.WARN),
  handleRuntimeStdio: (stdout, stderr) => {
    stdout.pipe(process.stderr);
    stderr.pipe(process.stderr);
  },
  workers,
  durableObjectsPersist: path.resolve(options.state),
});

const end = () => miniflare.dispose().finally(() => process.exit(0));
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, end);
// A test run that dies leaves no server behind: its end of the pipe closes with it.
if (options["with-parent"]) process.stdin.on("close", end).resume();

const url = await miniflare.ready;
process.stdout.write(`${JSON.stringify({ ready: url.origin })}\n`);

/** `.dev.vars`: NAME=VALUE lines, as wrangler reads them. */
function devVars() {
  if (!options["dev-vars"]) return {};
  const lines = readFileSync(path.join(root, ".dev.vars"), "utf8").split("\n");
  return Object.fromEntries(lines.filter((line) => /^\w+=/.test(line)).map(splitAtEquals));
}

function flagVars() {
  return Object.fromEntries(options.var.map(splitAtEquals));
}

function splitAtEquals(line) {
  const at = line.indexOf("=");
  return [line.slice(0, at), line.slice(at + 1)];
}
