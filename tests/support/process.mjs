// Starts and ends the server of server.mjs as a process group.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import net from "node:net";
import os from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";

const serverScript = path.join(import.meta.dirname, "server.mjs");

/**
 * A server over one state folder. `options`: `state` (folder), `vars` (variables of the Worker), `port`, `build`
 * (folder of the bundle), `wrangler` (file), `devVars`, `objects` (script with the object classes), `uniqueKey` (of the
 * objects in the folder), `detached` (default true: its own process group). Without a port a free one is taken and kept over restarts.
 */
export async function startServer(options = {}) {
  const server = new Server({ ...options, port: options.port || (await freePort()) });
  await server.start();
  return server;
}

class Server {
  constructor(options) {
    this.options = options;
    this.url = `http://127.0.0.1:${options.port}`;
    /** What the runtime said, of all starts. */
    this.log = "";
  }

  async start() {
    const { port, state, build, wrangler, vars = {}, devVars, objects, uniqueKey } = this.options;
    const args = ["--with-parent", "--port", String(port)];
    if (state) args.push("--state", state);
    if (build) args.push("--build", build);
    if (wrangler) args.push("--wrangler", wrangler);
    if (objects) args.push("--objects", objects);
    if (uniqueKey) args.push("--unique-key", uniqueKey);
    if (devVars) args.push("--dev-vars");
    for (const [name, value] of Object.entries(vars)) {
      args.push("--var", `${name}=${typeof value === "string" ? value : JSON.stringify(value)}`);
    }
    // Detached: the leader of a new process group, which workerd joins.
    this.child = spawn(process.execPath, [serverScript, ...args], {
      detached: this.options.detached ?? true,
      stdio: ["pipe", "pipe", "pipe"],
    });
    this.exited = once(this.child, "exit");
    this.child.stderr.on("data", (chunk) => {
      this.log += chunk;
      if (process.env.TIDEHOLD_SHOW_LOG) process.stderr.write(chunk);
    });
    const lines = createInterface({ input: this.child.stdout });
    const ready = new Promise((resolve, reject) => {
      lines.on("line", (line) => (line.includes('"ready"') ? resolve() : (this.log += `${line}\n`)));
      this.child.on("exit", (code) => reject(new Error(`the server ended with ${code}:\n${this.log}`)));
    });
    await withTimeout(ready, 60_000, () => `the server did not start:\n${this.log}`);
  }

  /** SIGKILL for the whole group, as a crash of the machine would. */
  async kill() {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    try {
      process.kill(-this.child.pid, "SIGKILL");
    } catch (error) {
      if (error.code !== "ESRCH") throw error;
    }
    await this.exited;
  }

  /** An orderly end. */
  async stop() {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    this.child.kill("SIGTERM");
    await this.exited;
  }

  /** Starts again on the same folder and port. */
  async restart() {
    await this.kill();
    await this.start();
  }
}

/** A state folder that `after` of the given test context removes. */
export async function stateFolder(context, prefix = "tidehold-") {
  const folder = await mkdtemp(path.join(process.env.TIDEHOLD_TEST_STATE ?? os.tmpdir(), prefix));
  context.after(() => rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 }));
  return folder;
}

/** A server on a fresh folder that ends with the test. */
export async function serverFor(context, options = {}) {
  const state = options.state ?? (await stateFolder(context));
  const server = await startServer({ ...options, state });
  context.after(() => server.kill());
  return server;
}

async function freePort() {
  const probe = net.createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const { port } = probe.address();
  probe.close();
  await once(probe, "close");
  return port;
}

export async function withTimeout(promise, milliseconds, message) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(message())), milliseconds);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

export const sleep = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** Calls `probe` until it answers something truthy, and returns that. */
export async function eventually(probe, { timeout = 10_000, every = 50, what = "the condition" } = {}) {
  const end = Date.now() + timeout;
  for (;;) {
    const found = await probe();
    if (found) return found;
    if (Date.now() > end) throw new Error(`${what} did not come true within ${timeout} ms`);
    await sleep(every);
  }
}
