// The two Workers of the benchmark in one workerd: same process, same SQLite, same state folder.

import { mkdtemp, readFile, rm } from "node:fs/promises";
import path from "node:path";
import { Log, LogLevel, Miniflare } from "miniflare";
import { parse as parseToml } from "smol-toml";

const bench = path.dirname(import.meta.dirname);
const kernelFolder = path.join(bench, "kernel-worker");

/**
 * Starts them over a new folder inside `state`, with the kernel's Worker from the folder `build`. `kernel` and `raw` ask an object
 * of that name; `stop` ends everything and deletes the folder.
 */
export async function start({ state, build }) {
  const folder = await mkdtemp(path.join(state, "tidehold-bench-"));
  const miniflare = new Miniflare(await configuration(folder, path.resolve(build)));
  const stop = async () => {
    await miniflare.dispose();
    await rm(folder, { recursive: true, force: true });
  };
  try {
    await miniflare.ready;
    const asker = async (worker) => {
      const namespace = await miniflare.getDurableObjectNamespace("OBJECTS", worker);
      return (object, route, body) => ask(namespace, object, route, body);
    };
    return { kernel: await asker("kernel"), raw: await asker("raw"), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function configuration(folder, build) {
  const { compatibility_date: compatibilityDate } = parseToml(
    await readFile(path.join(kernelFolder, "wrangler.toml"), "utf8"),
  );
  const objects = (className) => ({ OBJECTS: { className, useSQLite: true } });
  return {
    cf: false,
    log: new Log(LogLevel.WARN),
    durableObjectsPersist: folder,
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
        modulesRoot: bench,
        modules: [{ type: "ESModule", path: path.join(bench, "raw-object.mjs") }],
        durableObjects: objects("RawObject"),
      },
    ],
  };
}

async function ask(namespace, object, route, body) {
  const stub = namespace.get(namespace.idFromName(object));
  const answer = await stub.fetch(`http://object${route}`, { method: "POST", body: JSON.stringify(body ?? null) });
  if (!answer.ok) throw new Error(`${object}: ${answer.status} ${await answer.text()}`);
  return answer.json();
}
