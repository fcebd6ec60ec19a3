// For tests of what a command does in a folder without a run: this checkout's folder has one while `npm start` runs in it.
import { afterEach, beforeEach } from "vitest";
import { createTestFolder } from "./test-folder.ts";

/** Lets each test of the file work in a new folder. The tests of a worker run one after another. */
export function useEmptyWorkingFolder(): void {
  const checkout = process.cwd();
  beforeEach(async () => process.chdir(await createTestFolder()));
  afterEach(() => process.chdir(checkout));
}
