// The children of one benchmark: started by the name of their file in here, and all gone when it ends, however it ends.
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { type BenchServer, startBenchServer } from "./bench-database.ts";
import type { DatabaseKind } from "./measurement.ts";
import { type BenchChild, startChild } from "./start-child.ts";

/** `file` is a path from `bench/`; `node` are options for Node itself; `checkout` is another version of Sextant. */
export type StartChild = (
  name: string,
  file: string,
  task: object,
  node?: readonly string[],
  checkout?: string,
) => BenchChild;

export async function withChildren<T>(work: (start: StartChild) => Promise<T>): Promise<T> {
  const children: BenchChild[] = [];
  try {
    return await work((name, file, task, node = [], checkout) => {
      const args = [JSON.stringify(task)];
      const child =
        checkout === undefined
          ? startChild({ name, file: new URL(`../${file}`, import.meta.url), args, node })
          : startChild({ name, file: pathToFileURL(join(checkout, "bench", file)), args, node, checkout });
      children.push(child);
      return child;
    });
  } finally {
    // Who was started last may stand on who was started first.
    for (const child of children.reverse()) await child.stop();
  }
}

/** The same with a database server of its own. */
export async function withServer<T>(
  database: DatabaseKind,
  work: (start: StartChild, server: BenchServer) => Promise<T>,
): Promise<T> {
  const server = await startBenchServer(database);
  try {
    return await withChildren((start) => work(start, server));
  } finally {
    await server.stop();
  }
}

/** The options that make a child record where its time went. */
export function profileOptions(folder: string | null): readonly string[] {
  return folder === null ? [] : ["--cpu-prof", `--cpu-prof-dir=${folder}`];
}
