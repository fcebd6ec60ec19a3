// Command line of the simulator (npm run simulator).
import { runSimulatorCommand } from "./main.ts";

const interrupt = new AbortController();
// A second Ctrl-C finds no handler and ends the process at once.
process.once("SIGINT", () => interrupt.abort());
const { stdout, stderr } = process;
process.exitCode = await runSimulatorCommand(process.argv.slice(2), {
  stdout,
  stderr,
  interrupt: interrupt.signal,
});
