// The storage of an object as the product's driver sees it, with a note of what each statement was billed beside it.

export class Meter {
  billed = 0;
  modelled = 0;
  misbilled = [];

  /**
   * `bills` says what a row that a statement changes costs, or with `perRun` a run of it: `[statement, rows, positions of
   * parameters that cost one more, perRun]`.
   */
  constructor(storage, bills) {
    const costs = new Map(bills.map(([statement, rows, unlessNull, perRun]) => [statement, { rows, unlessNull, perRun }]));
    const { sql } = storage;
    const exec = (statement, ...parameters) => {
      const cursor = sql.exec(statement, ...parameters);
      const { rows, unlessNull, perRun } = costs.get(statement);
      if (rows > 0 || unlessNull.length > 0) {
        const { rowsWritten } = cursor;
        const changed = perRun ? 1 : [...sql.exec("SELECT changes()").raw()][0][0];
        const each = rows + unlessNull.filter((position) => parameters[position] !== null).length;
        this.#note(statement, changed, rowsWritten, changed * each);
      }
      return cursor;
    };
    this.storage = { sql: { exec }, transactionSync: (run) => storage.transactionSync(run) };
  }

  #note(statement, changed, billed, modelled) {
    this.billed += billed;
    this.modelled += modelled;
    if (billed !== modelled) {
      this.misbilled.push(`${statement}: ${changed} rows changed, ${billed} billed, ${modelled} modelled`);
    }
  }
}
