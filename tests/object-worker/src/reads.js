// What the platform bills as read, of every statement that any object of this isolate runs.

let counting = false;
let cursors = [];

/** From the next statement on. */
export function countReads(sql) {
  if (counting) return;
  counting = true;
  const kind = Object.getPrototypeOf(sql);
  const { exec } = kind;
  kind.exec = function (...call) {
    const cursor = exec.apply(this, call);
    cursors.push(cursor);
    return cursor;
  };
}

/** Rows of all statements so far. */
export const rowsRead = () => cursors.reduce((rows, cursor) => rows + cursor.rowsRead, 0);

/** Lets go of the cursors: what was counted is forgotten. */
export function forgetReads() {
  cursors = [];
}
