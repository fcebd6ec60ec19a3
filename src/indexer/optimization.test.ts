// V8 flags may disappear with any version of Node.
import { execFileSync } from "node:child_process";
import { expect, it } from "vitest";
import { OPTIMIZATION_FLAG } from "./optimization.ts";

it("names a flag that this version of Node has", () => {
  const known = execFileSync(process.execPath, ["--v8-options"], { encoding: "utf8" });
  expect(known).toMatch(new RegExp(`^ *${OPTIMIZATION_FLAG} .*\n *type: int`, "m"));
});
