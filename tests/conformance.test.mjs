// The storage conformance suite (crates/storage/src/conformance) inside a Durable Object, over the product's driver, on
// the test Worker of tests/object-worker. The same suite runs natively in crates/storage/tests/conformance.rs.

import assert from "node:assert/strict";
import path from "node:path";
import test from "node:test";
import { request } from "./support/http.mjs";
import { serverFor } from "./support/process.mjs";

const folder = path.join(import.meta.dirname, "object-worker");

/** A suite that lost its cases would pass in silence. */
const AT_LEAST = 200;

test("storage conformance in an object", async (context) => {
  const server = await serverFor(context, {
    build: path.join(folder, "build"),
    wrangler: path.join(folder, "wrangler.toml"),
  });
  const names = (await request("GET", `${server.url}/cases`)).json;
  assert.ok(names.length >= AT_LEAST, `the suite has ${names.length} cases`);
  assert.equal(new Set(names).size, names.length, "names are unique");

  const outcomes = [];
  for (const group of new Set(names.map(groupOf))) {
    await context.test(group, async () => {
      const failed = [];
      for (const name of names.filter((name) => groupOf(name) === group)) {
        const outcome = await run(server, name);
        outcomes.push(outcome);
        if (outcome.error !== null) failed.push(`${name}: ${outcome.error}`);
      }
      assert.ok(failed.length === 0, `failed in an object:\n${failed.join("\n")}`);
    });
  }
  const failures = outcomes.filter((outcome) => outcome.error !== null).length;
  // Written past the reporter, as the native run does: the count belongs in every log.
  process.stderr.write(`object: ${outcomes.length} cases run, ${failures} failed\n`);
  assert.equal(outcomes.length, names.length, "all cases ran");

  await context.test("every write of the suite is billed as its statement says", () => {
    const wrong = outcomes.flatMap(({ name, misbilled }) => misbilled.map((write) => `${name}: ${write}`));
    assert.deepEqual(wrong, []);
    assert.ok(outcomes.reduce((sum, { billed }) => sum + billed, 0) > 1000, "something was billed");
  });

  await context.test("commits cost the rows they must", async () => {
    const bills = (await request("POST", `${server.url}/bills`)).json;
    for (const { commit, billed, modelled } of bills) assert.equal(billed, modelled, commit);
    const rows = Object.fromEntries(bills.map(({ commit, billed }) => [commit, billed]));
    delete rows["the first commit"];
    assert.deepEqual(rows, {
      "a task is created": 5,
      "a task changes": 4,
      "a task changes, rewindable": 4,
      "a task ends": 5,
      "a base": 1,
      // A row a delta and one for the base: the next base reclaims in its own row.
      "a stream of small deltas": 101,
      // Six packs beside the row are written by deltas and deleted by the base.
      "a stream of larger deltas": 107,
    });
    assert.ok(Object.values(rows).every((sum) => sum <= 110));
  });
});

/** Names are `group::case`. */
const groupOf = (name) => name.split("::")[0];

async function run(server, name) {
  const answer = await request("POST", `${server.url}/run?case=${encodeURIComponent(name)}`);
  // A case that took its object down answers no JSON.
  return answer.json ?? { name, error: `${answer.status} ${answer.text}`, misbilled: [], billed: 0 };
}
