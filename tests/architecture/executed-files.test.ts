// Only the files in which a function ran meanwhile count as executed.
import { runInThisContext } from "node:vm";
import { expect, it } from "vitest";
import { watchExecutedFiles } from "../../scripts/files-passed/executed-files.ts";

const FOLDER = new URL("file:///executed-files-test/src/");

/** A file with one function, at an address that no file has. */
function load(name: string, folder = FOLDER): () => void {
  return runInThisContext("(function called() {})", { filename: new URL(name, folder).href });
}

it("counts the files in which a function runs, and none that is only loaded, ran before or lies elsewhere", async () => {
  const executed = await watchExecutedFiles(FOLDER);
  try {
    const [before, used] = [load("before.ts"), load("deep/used.ts")];
    const other = load("other.ts", new URL("../elsewhere/", FOLDER));
    before();
    const files = await executed.during(async () => {
      load("only-loaded.ts");
      used();
      other();
    });
    expect(files).toEqual(["deep/used.ts"]);
    expect(await executed.during(async () => before())).toEqual(["before.ts"]);
  } finally {
    executed.close();
  }
});
