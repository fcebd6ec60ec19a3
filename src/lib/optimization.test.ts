// V8 says on standard error if it does not know a flag, which a start should not show with any version of Node.
import { spawnSync } from "node:child_process";
import { expect, it } from "vitest";

it("sets no flag that this version of Node does not have", () => {
  const file = JSON.stringify(new URL("./optimization.ts", import.meta.url).href);
  const call = `import(${file}).then((module) => module.delayOptimization())`;
  const { status, stderr } = spawnSync(process.execPath, ["--import", "tsx", "-e", call], {
    encoding: "utf8",
  });
  expect([status, stderr]).toEqual([0, ""]);
});
