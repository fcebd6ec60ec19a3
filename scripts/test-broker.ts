// `npm run test:broker`: the copy of events in a real nats-server. Without one it fails, because it tested nothing.
import { findNatsServer } from "../tests/broker/nats-server.ts";
import { runVitest } from "./testing/run-vitest.ts";

if (findNatsServer(process.env.PATH ?? "") === null) {
  process.stderr.write("No nats-server on the path. Install one (Debian: apt-get install nats-server).\n");
  process.exitCode = 1;
} else {
  const { passed, failed } = await runVitest({ suites: ["broker"], args: process.argv.slice(2) });
  process.stdout.write(`\nbroker: ${passed} passed, ${failed} failed\n`);
  process.exitCode = failed === 0 ? 0 : 1;
}
