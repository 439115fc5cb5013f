// Durable tasks in an object: what SIGKILL of the whole server, resets of the object, traps and broken storage leave of
// them. On the test Worker of tests/tasks-worker, which runs task definitions of its own in the product's session and frame.
//
// Nothing wakes the sessions but their alarms: between a kill and the time by which work must be over no request reaches
// them, and what is asserted are the times in records and notes. TIDEHOLD_QUICK=1 keeps the first test only.

import assert from "node:assert/strict";
import path from "node:path";
import test, { describe } from "node:test";
import { postAlone, sessionClient } from "./support/http.mjs";
import { eventually, serverFor, sleep, stateFolder } from "./support/process.mjs";

const quick = process.env.TIDEHOLD_QUICK === "1";
const folder = path.join(import.meta.dirname, "tasks-worker");

/** Of the Worker's configuration. */
const WATCHDOG = 1000;

const serve = (context, options) =>
  serverFor(context, { build: path.join(folder, "build"), wrangler: path.join(folder, "wrangler.toml"), ...options });

/** One object: each method asks it for something. */
function object(server, name) {
  const send = (operation) => postAlone(`${server.url}/${name}`, operation);
  const ask = async (operation) => {
    const answer = await send(operation);
    assert.equal(answer.status, 200, `${name}: ${answer.text}`);
    return answer.json;
  };
  const product = (operation) => ask({ name: "product", operation, body: "" });
  return {
    name,
    create: (kind, input) => ask({ name: "create", kind, input }),
    /** The same, whatever the answer is. */
    attempt: (kind, input) => send({ name: "create", kind, input }),
    break: (what, times) => ask({ name: "break", what, times }),
    abort: (task) => product({ abortTask: { task } }),
    inspect: () => product({ inspect: { detail: "whole" } }),
    record: (task) => product({ getTask: { task, detail: "whole" } }),
    records: () => ask({ name: "records" }),
    notes: () => ask({ name: "notes" }),
    bank: () => ask({ name: "bank" }),
    meter: () => ask({ name: "meter" }),
    crowd: (tasks) => ask({ name: "crowd", tasks }),
    answer: (task) => ask({ name: "answer", task }),
    call: () => ask({ name: "call" }),
    ahead: (days) => ask({ name: "ahead", days }),
    /** Its memory goes, and the answer with it. */
    end: () => send({ name: "end" }).catch(lost),
  };
}

/** An answer that went away with its object. */
function lost(error) {
  if (error.code !== "ECONNRESET") throw error;
}

/** How often the server's log has a note, from a place in it on. */
const noted = (server, what, from = 0) => server.log.slice(from).split(`note: ${what}\n`).length - 1;

const untilNoted = (server, what, times, from) =>
  eventually(() => noted(server, what, from) >= times, { timeout: 30_000, every: 5, what: `${times} times "${what}"` });

const named = (notes, what) => notes.filter((note) => note.what === what);

/** The task completed within three seconds of its time, and before anyone asked. */
function assertOnTime(task, asked) {
  const { outcome } = task.state;
  assert.equal(outcome?.status, "completed", JSON.stringify(task));
  const late = task.endedAt - outcome.result.due;
  assert.ok(late >= 0 && late <= 3_000, `${late} ms after its time`);
  assert.ok(task.endedAt < asked, "it ended when somebody asked");
}

/** Sleeps until `ms` after `start`. */
const until = (start, ms) => sleep(Math.max(0, start + ms - Date.now()));

test("a sleeping task that is killed at once wakes on time, and nobody asks", { skip: !quick }, async (context) => {
  const server = await serve(context);
  const sleepers = object(server, "sleepers");
  const task = await sleepers.create("sleeper", { ms: 5_000, polls: 0 });
  await server.restart();
  await sleep(7_000);
  const asked = Date.now();
  assertOnTime(await sleepers.record(task), asked);
});

/** How many wait in the session that must open in less than a second. */
const CROWD = 5_000;

async function kills(context) {
  const server = await serve(context);
  const tree = object(server, "tree");
  const parked = object(server, "parked");
  const declined = object(server, "declined checkout");
  const aborted = object(server, "aborted checkout");
  const durable = object(server, "durable sleep");
  const polls = object(server, "polls");

  const answered = await parked.create("parked", { until: "answer" });
  // One task, one child task, three conversations with three tasks each, 21 child tasks below each of those.
  const branch = { leaves: 21, abortMs: 4_000 };
  const conversations = Array(3).fill(Array(3).fill(branch));
  const top = await tree.create("node", { leaves: 1, conversations, abortMs: 500 });
  await eventually(async () => {
    const { tasks } = await tree.records();
    return tasks.length === 200 && tasks.every((task) => task.startedAt);
  });

  assert.equal((await tree.abort(top)).outcome, "marked");
  await untilNoted(server, "aborted", 20);
  const cards = ["good", "expired", "good", "good"].map((card) => ({ card, cents: 100 }));
  const whole = await aborted.create("checkout", { payments: cards.filter(({ card }) => card === "good") });
  await untilNoted(server, "charged", 3);
  assert.equal((await aborted.abort(whole)).outcome, "marked");
  const broken = await declined.create("checkout", { payments: cards });
  await untilNoted(server, "charged", 6);
  const start = Date.now();
  const slept = await durable.create("sleeper", { ms: 20_000, polls: 0 });
  const polled = await polls.create("sleeper", { ms: 20_000, polls: 4 });
  let place = server.log.length;
  await server.restart();
  // In the middle of the abort handlers again, and of the first refund.
  await untilNoted(server, "aborted", 20, place);
  await untilNoted(server, "refunded", 1, place);
  await server.restart();

  await context.test("a task parked for an answer costs nothing for ten days", async () => {
    const before = await parked.record(answered);
    for (let day = 1; day <= 10; day += 1) {
      await parked.ahead(day);
      await parked.end();
      const meter = await parked.meter();
      assert.deepEqual(meter, { ...meter, live: 1, opens: 0, alarm: null, alarmsSet: 0, alarmsDeleted: 0, timers: 0, rows: 0 });
    }
    assert.deepEqual(await parked.record(answered), before);
    const notes = await parked.notes();
    assert.deepEqual(named(notes, "alarm"), []);
    assert.equal(named(notes, "looks for an answer").length, 1);
    assert.ok(notes.at(-1).at - notes[0].at > 10 * 86_400_000);
    await parked.answer(answered);
    const ended = await eventually(async () => {
      const task = await parked.record(answered);
      return task.endedAt && task;
    });
    assert.equal(ended.state.outcome.status, "completed");
    assert.equal(named(await parked.notes(), "looks for an answer").length, 2);
  });

  const busy = object(server, "busy");
  const working = await busy.create("steps", { steps: 200, resets: 0, fails: 200, pace: 30 });
  // Its meter is in memory, which an idle object soon loses.
  const worked = await eventually(async () => {
    const task = await busy.record(working);
    return task.endedAt && task;
  }, { timeout: 30_000, every: 200 });
  const { alarmsSet: alarmsOfWork } = await busy.meter();
  await until(start, 23_500);
  const asked = Date.now();

  await context.test("a durable sleep of twenty seconds ends on time", async () => {
    assertOnTime(await durable.record(slept), asked);
    assert.equal(named(await durable.notes(), "slept").length, 1);
    // Each setting is a billed row: the alarm that woke it set one, for as long as there was work.
    const { alarmsSet, alarmsDeleted } = await durable.meter();
    assert.deepEqual({ alarmsSet, alarmsDeleted }, { alarmsSet: 1, alarmsDeleted: 1 });
  });

  await context.test("a busy task sets the alarm at most twice a watchdog", async () => {
    assert.equal(worked.state.outcome?.status, "completed", JSON.stringify(worked));
    const took = worked.endedAt - worked.startedAt;
    process.stderr.write(`tasks: ${alarmsOfWork} alarms set in ${took} ms of 200 steps\n`);
    const [least, most] = [took / WATCHDOG, 3 + took / (WATCHDOG / 2)];
    assert.ok(alarmsOfWork >= least && alarmsOfWork <= most, `${alarmsOfWork} alarms set`);
  });

  await context.test("so do twenty seconds of polls, with none before its time", async () => {
    const task = await polls.record(polled);
    assertOnTime(task, asked);
    const times = named(await polls.notes(), "polled").map(({ at }) => at - (task.state.outcome.result.due - 20_000));
    assert.equal(times.length, 4);
    times.forEach((at, poll) => assert.ok(at >= 5_000 * (poll + 1), String(times)));
  });

  await context.test("a tree of 200 tasks aborts bottom-up, each task once", async () => {
    const { tasks, conversations } = await tree.records();
    const notes = await tree.notes();
    assertAborted(tasks, conversations, notes, asked);
    const begun = named(notes, "abort begins").length;
    assert.ok(begun > 200, `${begun} abort handlers: the kills met none`);
  });

  await context.test("a declined card aborts and refunds the other payments", async () => {
    const { tasks } = await declined.records();
    const checkout = tasks.find(({ id }) => id === broken);
    const { outcome } = checkout.state;
    assert.equal(outcome?.status, "failed", JSON.stringify(checkout));
    assert.deepEqual(outcome.result.payments, ["aborted", "failed", "aborted", "aborted"]);
    assertRefunded(await declined.bank(), ["declined", "refunded", "refunded", "refunded"]);
    assertPaidFirst(tasks, broken, asked);
  });

  await context.test("an aborted checkout refunds its payments, and ends after them", async () => {
    const { tasks } = await aborted.records();
    const checkout = tasks.find(({ id }) => id === whole);
    const { outcome } = checkout.state;
    assert.equal(outcome?.status, "aborted", JSON.stringify(checkout));
    assert.deepEqual(outcome.result.payments, ["aborted", "aborted", "aborted"]);
    assertRefunded(await aborted.bank(), ["refunded", "refunded", "refunded"]);
    assertPaidFirst(tasks, whole, asked);
  });

}

async function crowds(context) {
  const server = await serve(context);
  const crowd = object(server, "crowd");
  await crowd.crowd(CROWD);
  await eventually(async () => (await crowd.records()).tasks.every((task) => task.startedAt), { timeout: 60_000, every: 500 });
  await server.restart();
  // The Worker itself starts with the first request.
  await object(server, "first").meter();
  const timed = async (session) => {
    const before = performance.now();
    return { meter: await session.meter(), took: performance.now() - before };
  };
  const empty = await timed(object(server, "empty"));
  const full = await timed(crowd);
  // Past the reporter.
  process.stderr.write(`tasks: first answers ${JSON.stringify({ empty: empty.took, full: full.took, opening: full.meter.opening })}\n`);
  assert.deepEqual(full.meter, { ...full.meter, live: CROWD, opens: 0, alarmsSet: 0, alarmsDeleted: 0, timers: 0 });
  assert.ok(full.took < 1_000, `${full.took} ms`);
  // Those that waited for an answer in memory wait in storage since: from now on opening writes nothing.
  await crowd.end();
  assert.equal((await crowd.meter()).rows, 0);
}

async function resets(context) {
  const server = await serve(context);
  const steps = object(server, "steps");
  const poisoned = object(server, "poisoned");

  const stepping = await steps.create("steps", { steps: 12, resets: 10, fails: 5, pace: 0 });
  const drunk = await poisoned.create("poison", {});
  const faulty = [];
  // The trap last: it ends all objects, and what is asked of them just then.
  for (const fault of ["panic", "storage", "abort", "setAlarm", "trap"]) {
    const session = object(server, `faulty: ${fault}`);
    const task = await session.create("sleeper", { ms: 2_000, polls: 0 });
    await session.break(fault, 6);
    // An opening can only fail where nothing is open.
    if (fault !== "setAlarm") await session.end();
    faulty.push({ fault, session, task });
  }
  // Its first work is stored and has no alarm: the commit was, and the setting failed in its turn. The answer may be lost.
  const unarmed = object(server, "unarmed");
  await unarmed.break("setAlarm", 1);
  await unarmed.attempt("sleeper", { ms: 2_000, polls: 0 });
  const start = Date.now();
  await until(start, 26_000);
  const asked = Date.now();

  await context.test("work whose alarm could not be set is woken all the same", async () => {
    const { tasks } = await unarmed.records();
    assert.equal(tasks.length, 1, JSON.stringify(tasks));
    assert.equal(named(await unarmed.notes(), "fault: setAlarm").length, 1);
    assert.equal(tasks[0].state.outcome?.status, "completed", JSON.stringify(tasks));
    assert.ok(tasks[0].endedAt < asked);
  });

  for (const { fault, session, task } of faulty) {
    await context.test(`six wakes that fail of ${fault} do not strand a session`, async () => {
      const { endedAt, state } = await session.record(task);
      const notes = await session.notes();
      assert.equal(named(notes, `fault: ${fault}`).length, 6, JSON.stringify(notes));
      assert.equal(state.outcome?.status, "completed");
      assert.ok(endedAt < asked);
    });
  }

  await context.test("ten resets within one task are no attempts of it", async () => {
    const { endedAt, state } = await steps.record(stepping);
    // One attempt failed of itself.
    assert.deepEqual(state.outcome?.result, { sum: 66, attempts: 2 });
    assert.ok(endedAt < asked);
    const notes = await steps.notes();
    for (let step = 0; step < 10; step += 1) {
      const begun = named(notes, `step ${step} begins`).length;
      assert.ok(begun >= (step === 5 ? 3 : 2), `step ${step} began ${begun} times`);
    }
    // Each reset was counted until the next progress.
    const opens = opensIn(notes).filter(({ at }) => at < endedAt);
    assert.ok(opens.length > 10 && opens.slice(1).every(({ count }) => count >= 1), JSON.stringify(opens));
    assert.equal((await steps.inspect()).opensWithoutProgress, 0);
  });

  await context.test("a task that ends its object each time backs off, until somebody calls", async () => {
    const opens = opensIn(await poisoned.notes());
    const counted = opens.slice(0, -1).map(({ count }) => count);
    assert.deepEqual(counted, [0, 1, 2, 3, 4, 5, 6], JSON.stringify(opens));
    // Nobody asked before the last one. From the third on the distance is twice the watchdog, and doubles.
    opens.slice(3, -2).forEach(({ count, at }, index) => {
      const distance = opens[index + 4].at - at;
      const least = WATCHDOG * 2 ** (count - 2);
      assert.ok(distance >= least && distance <= least + 3_000, `${distance} ms after open ${count}`);
    });
    // Reading shows it, is no call, and counts as the open that it is.
    const { tasks, alarm, opensWithoutProgress, scheduling } = await poisoned.inspect();
    assert.deepEqual([opensWithoutProgress, scheduling], [7, "paused"]);
    const due = opens.at(-1).at + WATCHDOG * 2 ** 5;
    assert.ok(Math.abs(alarm - due) < 1_000, `${alarm} instead of ${due}`);
    assert.deepEqual(tasks.map(({ record }) => [record.id, record.state.status]), [[drunk, "pending"]]);

    await poisoned.call().catch(lost);
    await eventually(async () => named(await poisoned.notes(), "open 1").length === 2, { what: "forgiveness" });
    assert.equal((await poisoned.record(drunk)).state.outcome, undefined);
  });
}

/** `GET /` of the product: on the objects of this Worker, whose tasks it cannot take, and on runs of its own. */
async function inspections(context) {
  const [state, uniqueKey] = [await stateFolder(context), "sessions"];
  // As the product names its objects.
  const name = "3:dev/blocked";
  const before = await serve(context, { state, uniqueKey });
  const parked = object(before, name);
  const [kept, given] = [await parked.create("parked", { until: "answer" }), await parked.create("parked", { until: "answer" })];
  await before.kill();

  const config = {
    providers: { scripted: { api: "scripted", models: { echo: {} } } },
    harnesses: { default: { model: "scripted/echo" } },
    roles: { worker: { instructions: "Work." } },
    limits: { watchdogMs: WATCHDOG },
  };
  const product = await serverFor(context, { state, uniqueKey, devVars: true, vars: { TIDEHOLD_CONFIG: config } });
  const blocked = sessionClient(product, "blocked");

  await context.test("blocked tasks say why, and cost no alarm", async () => {
    const { json } = await blocked.get("");
    assert.deepEqual(
      json.tasks.map(({ record, state }) => [record.id, record.kind, record.state.status, state]),
      [kept, given].map((id) => [id, "test.parked", "pending", { kind: "blocked", reason: "missing_task" }]),
    );
    const { alarm, opensWithoutProgress, scheduling } = json;
    assert.deepEqual({ alarm, opensWithoutProgress, scheduling }, { alarm: null, opensWithoutProgress: 0, scheduling: "paused" });
    assert.deepEqual((await blocked.post(`/tasks/${given}/abort`)).json, { outcome: "marked" });
    assert.equal((await blocked.get(`/tasks/${given}`)).json.state.outcome.status, "orphaned");
    assert.deepEqual((await blocked.get("")).json.tasks.map(({ record }) => record.id), [kept]);
  });

  await context.test("opens without progress are counted and move the alarm, and a call starts anew", async () => {
    const run = sessionClient(product, "waiting");
    const receipt = await run.tool("external_delegate", { role: "worker", description: "Wait", prompt: "@wait 600000", background: true });
    assert.equal(receipt.ok, true, JSON.stringify(receipt));
    const [{ record: anchor }] = (await run.get("/tasks")).json.items;
    const counts = [];
    let distance;
    for (let opens = 1; opens <= 4; opens += 1) {
      await product.restart();
      const { json } = await run.get("");
      counts.push(json.opensWithoutProgress);
      distance = json.alarm - Date.now();
    }
    assert.deepEqual(counts, [1, 2, 3, 4]);
    assert.ok(distance > 2 * WATCHDOG && distance <= 4 * WATCHDOG, `${distance} ms`);
    assert.deepEqual((await run.post(`/tasks/${anchor.id}/abort`)).json, { outcome: "marked" });
    const { json } = await eventually(async () => {
      const answer = await run.get("");
      return answer.json.tasks.length === 0 && answer;
    });
    assert.deepEqual([json.opensWithoutProgress, json.alarm], [0, null]);
  });
  await product.kill();

  await context.test("a blocked task goes on under a Worker that knows it", async () => {
    const after = await serve(context, { state, uniqueKey });
    const session = object(after, name);
    await session.answer(kept);
    const ended = await eventually(async () => {
      const task = await session.record(kept);
      return task.endedAt && task;
    });
    assert.equal(ended.state.outcome.status, "completed");
    assert.equal((await session.record(given)).state.outcome.status, "orphaned");
  });
}

/** What each opening of an object counted as opens without progress. */
function opensIn(notes) {
  const opens = notes.filter(({ what }) => what.startsWith("open "));
  return opens.map(({ at, what }) => ({ at, count: Number(what.slice(5)) }));
}

/** Every task aborted once, after everything below it and before anyone asked. */
function assertAborted(tasks, conversations, notes, asked) {
  assert.equal(tasks.length, 200);
  const owners = new Map(conversations.map(({ id, owner }) => [id, owner?.taskId]));
  const aborts = new Map(named(notes, "aborted").map((note) => [note.task, note]));
  assert.deepEqual([...aborts.keys()].sort(), tasks.map(({ id }) => id).sort());
  assert.equal(named(notes, "aborted").length, 200);
  const byId = new Map(tasks.map((task) => [task.id, task]));
  for (const task of tasks) {
    assert.equal(task.state.outcome?.status, "aborted", JSON.stringify(task));
    assert.ok(task.endedAt < asked);
    const owner = byId.get(task.owner ?? owners.get(task.conversationId));
    if (!owner) continue;
    assert.ok(task.endedAt <= owner.endedAt, `task ${task.id} ended after its owner`);
    const [begun] = notes.filter((note) => note.task === owner.id && note.what === "abort begins");
    assert.ok(aborts.get(task.id).id < begun.id, `the abort of ${owner.id} began before task ${task.id} had ended`);
  }
}

/** Each card is in one of these states, and what was charged was given back exactly once, under one key. */
function assertRefunded(bank, states) {
  assert.deepEqual(bank.map(({ state }) => state).sort(), states);
  assert.deepEqual(bank.map(({ refunded }) => refunded), bank.map(({ state }) => (state === "refunded" ? 1 : 0)));
}

/** The payments of a checkout ended before it. */
function assertPaidFirst(tasks, checkout, asked) {
  const { endedAt } = tasks.find(({ id }) => id === checkout);
  const payments = tasks.filter(({ owner }) => owner === checkout);
  assert.ok(endedAt < asked && payments.every((payment) => payment.endedAt <= endedAt));
}

describe("durable tasks", { skip: quick, concurrency: true }, () => {
  test("kills", kills);
  test("resets", resets);
  test("inspections", inspections);
  test("a session with thousands of waiting tasks opens soon, without a timer", crowds);
});
