// What stands between the product and the platform of one object in this Worker: it counts what the product asks for, fails
// it when told to, and keeps what a test reads afterwards in tables beside the product's own.

const worlds = new WeakMap();

export class World {
  /** The one of an object. */
  static of(state) {
    if (!worlds.has(state)) worlds.set(state, new World(state));
    return worlds.get(state);
  }

  constructor(state) {
    this.state = state;
    this.storage = state.storage;
    this.alarmsSet = 0;
    this.alarmsDeleted = 0;
    this.timers = 0;
    this.broken = false;
    const { storage } = this;
    const { sql } = storage;
    const [exec, setAlarm, deleteAlarm] = [sql.exec.bind(sql), storage.setAlarm.bind(storage), storage.deleteAlarm.bind(storage)];
    this.exec = exec;
    exec("CREATE TABLE IF NOT EXISTS test_notes (id INTEGER PRIMARY KEY, at INTEGER, task INTEGER, what TEXT)");
    exec("CREATE TABLE IF NOT EXISTS test_faults (what TEXT PRIMARY KEY, left INTEGER)");
    exec("CREATE TABLE IF NOT EXISTS test_clock (id INTEGER PRIMARY KEY, ahead INTEGER)");
    exec("CREATE TABLE IF NOT EXISTS test_bank (key TEXT PRIMARY KEY, cents INTEGER, state TEXT, asked INTEGER, refunded INTEGER)");
    this.ahead = exec("SELECT ahead FROM test_clock").toArray()[0]?.ahead ?? 0;
    sql.exec = (...parameters) => {
      if (this.broken) throw new Error("disk I/O error");
      return exec(...parameters);
    };
    storage.setAlarm = (at) => {
      if (this.takeFault("setAlarm")) throw new Error("the alarm cannot be set");
      this.alarmsSet += 1;
      return setAlarm(at);
    };
    storage.deleteAlarm = () => {
      this.alarmsDeleted += 1;
      return deleteAlarm();
    };
  }

  /** Stores that something happened, and prints it: a test that must not ask the object reads the log of the server. */
  note(task, what) {
    this.exec("INSERT INTO test_notes (at, task, what) VALUES (?, ?, ?)", Date.now() + this.ahead, task, what);
    console.log(`note: ${what}`);
  }

  noted(task, what) {
    return this.exec("SELECT id FROM test_notes WHERE task = ? AND what = ?", task, what).toArray().length;
  }

  notes() {
    return JSON.stringify(this.exec("SELECT id, at, task, what FROM test_notes ORDER BY id").toArray());
  }

  breakIt(what, times) {
    this.exec("INSERT OR REPLACE INTO test_faults VALUES (?, ?)", what, times);
  }

  /** Whether the fault is to happen now; counts it. */
  takeFault(what) {
    const [fault] = this.exec("UPDATE test_faults SET left = left - 1 WHERE what = ? AND left > 0 RETURNING left", what).toArray();
    if (fault) this.note(0, `fault: ${what}`);
    return fault !== undefined;
  }

  /** Holds from the next opening on. */
  setAhead(milliseconds) {
    this.exec("INSERT OR REPLACE INTO test_clock VALUES (1, ?)", milliseconds);
  }

  /** Ends the object as a platform reset would, once what was written is durable. Not while wasm runs or has something to run:
   * the turn is cut off, and the executor that all objects share would wait for a microtask that never comes. */
  async end() {
    await this.storage.sync();
    this.state.abort("ended by the test");
  }

  /** Charges at most once a key: "" or why not. */
  charge(key, card, cents) {
    const state = card.startsWith("expired") ? "declined" : "charged";
    this.exec(
      "INSERT INTO test_bank VALUES (?, ?, ?, 1, 0) ON CONFLICT (key) DO UPDATE SET asked = asked + 1",
      key,
      cents,
      state,
    );
    const [line] = this.exec("SELECT state FROM test_bank WHERE key = ?", key).toArray();
    return line.state === "charged" ? "" : `${card} is ${line.state}`;
  }

  /** Gives back at most once a key. */
  refund(key) {
    this.exec("INSERT INTO test_bank VALUES (?, 0, 'void', 0, 0) ON CONFLICT (key) DO NOTHING", key);
    this.exec("UPDATE test_bank SET state = 'refunded', refunded = refunded + 1 WHERE key = ? AND state = 'charged'", key);
  }

  bank() {
    return JSON.stringify(this.exec("SELECT key, cents, state, asked, refunded FROM test_bank ORDER BY key").toArray());
  }
}
