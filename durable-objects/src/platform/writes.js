// Runs the writes of one commit. One call from wasm with everything, where a call for each parameter, each statement and
// each answer would cost more than the statements do.

const utf8 = new TextDecoder("utf-8", { ignoreBOM: true });

/**
 * `plan` holds for each statement its place in `statements`, the number of its parameters, and those: 0 for NULL; 1 and a
 * number; 2 and a range of `bytes` that is text; 3 and one that is a blob. `plain` says that all of `bytes` is ASCII and no
 * part of it a blob: then it is decoded once and cut where the bytes say. Returns the rows billed. More than one statement
 * is a transaction, which an exception rolls back; a `single` one is atomic by itself.
 */
export function applyWrites(storage, sql, statements, plan, bytes, plain, single) {
  const all = plain ? utf8.decode(bytes) : "";
  const text = (from, to) => (plain ? all.substring(from, to) : utf8.decode(bytes.subarray(from, to)));
  const run = () => {
    let rows = 0;
    for (let at = 0; at < plan.length; ) {
      const statement = statements[plan[at]];
      const parameters = new Array(plan[at + 1]);
      at += 2;
      for (let i = 0; i < parameters.length; i += 1) {
        const kind = plan[at];
        const value = plan[at + 1];
        if (kind === 0) parameters[i] = null;
        else if (kind === 1) parameters[i] = value;
        else if (kind === 2) parameters[i] = text(value, plan[at + 2]);
        else parameters[i] = bytes.slice(value, plan[at + 2]);
        at += kind === 0 ? 1 : kind === 1 ? 2 : 3;
      }
      rows += sql.exec(statement, ...parameters).rowsWritten;
    }
    return rows;
  };
  return single ? run() : storage.transactionSync(run);
}
