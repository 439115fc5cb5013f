// What sessions left in a state folder, read from the files themselves while or after a server runs.

import { readdir, readFile } from "node:fs/promises";
import path from "node:path";

/**
 * One item for each object that ever ran: `{id, tables, alarm}`. `tables` are the names of its tables as their
 * definitions stand in the database or its log; `alarm` tells whether the runtime has stored an alarm for it.
 */
export async function objectsIn(state) {
  const files = await readdir(state, { recursive: true });
  const alarms = await readAll(state, files.filter((file) => /metadata\.sqlite(-wal)?$/.test(file)));
  const databases = files.filter((file) => /[0-9a-f]{64}\.sqlite$/.test(file));
  return Promise.all(
    databases.map(async (file) => {
      const id = path.basename(file, ".sqlite");
      const bytes = await readAll(state, files.filter((other) => other === file || other === `${file}-wal`));
      const tables = new Set([...bytes.matchAll(/CREATE TABLE (?:IF NOT EXISTS )?"?(\w+)/g)].map(([, name]) => name));
      return { id, tables: [...tables].sort(), alarm: alarms.includes(id) };
    }),
  );
}

async function readAll(state, files) {
  const contents = await Promise.all(files.map((file) => readFile(path.join(state, file), "latin1")));
  return contents.join("");
}
