// A session with 50,000 entries (200 MB) in an object, on the test Worker of tests/object-worker: what opening it reads, and
// what paging through all of it keeps in memory. Natively crates/harness/tests/opening.rs counts the same.

import assert from "node:assert/strict";
import path from "node:path";
import test from "node:test";
import { request } from "./support/http.mjs";
import { serverFor } from "./support/process.mjs";

const folder = path.join(import.meta.dirname, "object-worker");
const ENTRIES = 50_000;
const MIB = 1024 * 1024;

test("a long history in an object", async (context) => {
  const server = await serverFor(context, {
    build: path.join(folder, "build"),
    wrangler: path.join(folder, "wrangler.toml"),
  });
  const post = async (route) => {
    const answer = await request("POST", `${server.url}${route}`);
    assert.equal(answer.status, 200, answer.text);
    return answer.json;
  };
  await post("/fill?case=short&entries=10");
  const size = await post(`/fill?case=long&entries=${ENTRIES}`);
  assert.ok(size > 200_000_000, `${size} bytes`);

  await context.test("opening it reads as many rows as opening a short one", async () => {
    await server.restart();
    const [short, long] = [await post("/open?case=short"), await post("/open?case=long")];
    // Past the reporter: times are for people, and no test asserts one.
    process.stderr.write(`object: opening reads ${JSON.stringify({ short, long })}\n`);
    assert.equal(long.rows, short.rows);
    assert.ok(long.rows > 0 && long.rows < 100, `${long.rows} rows`);
  });

  await context.test("paging through it grows the wasm memory by less than 16 MiB", async () => {
    // Memory never shrinks, and the isolate's objects share it: only a new process tells what paging needs.
    await server.restart();
    const paged = await post("/page?case=long");
    process.stderr.write(`object: paging ${JSON.stringify(paged)}\n`);
    assert.equal(paged.entries, ENTRIES);
    assert.ok(paged.bytes > 190 * MIB, `${paged.bytes} bytes of JSON`);
    const [empty, , after] = paged.memory;
    assert.ok(after - empty < 16 * MIB, `${(after - empty) / MIB} MiB`);
  });
});
