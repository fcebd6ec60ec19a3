// Log lines: each field once as JSON for machines, component and message for a person at a terminal.
import { spawnSync } from "node:child_process";
import { expect, it } from "vitest";

/** Returns what a process writes to standard error when it logs the same line to a file and to a terminal. */
function writeLines(): { readonly json: string; readonly shown: string } {
  const script = `
    import { createLog } from "./src/lib/log.ts";
    for (const terminal of [false, true]) {
      const log = createLog({ level: "info", terminal, name: "test" }).child({ service: "api" });
      log.warn({ component: "chain", event: "node_recovered", provider: "node.example" }, "Node recovered");
    }`;
  const args = ["--import", "tsx", "--input-type=module", "--eval", script];
  const { stderr } = spawnSync(process.execPath, args, {
    encoding: "utf8",
    env: { ...process.env, NO_COLOR: "1" },
  });
  const end = stderr.indexOf("\n") + 1;
  return { json: stderr.slice(0, end), shown: stderr.slice(end) };
}

it("a log line is one JSON object with each field once, and readable text in a terminal", () => {
  const { json, shown } = writeLines();
  const names = [...json.matchAll(/"(\w+)":/g)].map(([, name]) => name);
  expect(names).toEqual(["level", "time", "name", "service", "component", "event", "provider", "msg"]);
  expect(JSON.parse(json)).toMatchObject({
    component: "chain",
    event: "node_recovered",
    msg: "Node recovered",
  });
  // Without the event, which is for machines.
  expect(shown).toMatch(
    /^\[\d\d:\d\d:\d\d\] WARN: chain: Node recovered\n {4}service: "api"\n {4}provider: "node\.example"\n$/,
  );
});
