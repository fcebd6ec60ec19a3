// Log lines: each field once as JSON for machines, component and message for a person at a terminal.
import { spawnSync } from "node:child_process";
import { expect, it } from "vitest";

/** What a process writes to standard error when it logs one line. */
function writeLine(terminal: boolean): string {
  const script = `
    import { createLog } from "./src/lib/log.ts";
    const log = createLog({ level: "info", terminal: ${terminal}, name: "test" }).child({ service: "api" });
    log.warn({ component: "chain", event: "node_recovered", provider: "node.example" }, "Node recovered");`;
  const args = ["--import", "tsx", "--input-type=module", "--eval", script];
  const { stderr } = spawnSync(process.execPath, args, {
    encoding: "utf8",
    env: { ...process.env, NO_COLOR: "1" },
  });
  return stderr;
}

it("is one JSON object with each field once", () => {
  const line = writeLine(false);
  const names = [...line.matchAll(/"(\w+)":/g)].map(([, name]) => name);
  expect(names).toEqual(["level", "time", "name", "service", "component", "event", "provider", "msg"]);
  expect(JSON.parse(line)).toMatchObject({
    component: "chain",
    event: "node_recovered",
    msg: "Node recovered",
  });
});

it("shows component, message and fields in a terminal, and no event", () => {
  expect(writeLine(true)).toMatch(
    /^\[\d\d:\d\d:\d\d\] WARN: chain: Node recovered\n {4}service: "api"\n {4}provider: "node\.example"\n$/,
  );
});
