// The version before: its checkout, its processes and its code.
import { join } from "node:path";
import { pathToFileURL } from "node:url";

/** The folder into which `npm run test:upgrade` has put the version. */
export function previousCheckout(): string {
  const folder = process.env.TEST_VERSION_BEFORE;
  if (folder === undefined) throw new Error("run this with `npm run test:upgrade`");
  return folder;
}

/** A module of the version before. Its type is that of ours: a test uses what both of them have. */
export async function loadPreviousModule<T>(path: string): Promise<T> {
  return (await import(/* @vite-ignore */ pathToFileURL(join(previousCheckout(), path)).href)) as T;
}
