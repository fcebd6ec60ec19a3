// Arguments of the local-chain command; run.integration.test.ts starts it as a process.
import { expect, it } from "vitest";
import { runLocalChain } from "./main.ts";

it.each([
  ["--port", "many"],
  ["--prot", "1"],
])("the local-chain command rejects %s %s in one line", async (...args) => {
  const output = { stdout: "", stderr: "" };
  const code = await runLocalChain(args, {
    stdout: { write: (text) => (output.stdout += text) },
    stderr: { write: (text) => (output.stderr += text) },
    interrupt: new AbortController().signal,
  });
  expect(code).toBe(1);
  expect(output.stderr).toMatch(/^[^\n]*(--port|--prot)[^\n]*\n$/);
  expect(output.stdout).toBe("");
});
