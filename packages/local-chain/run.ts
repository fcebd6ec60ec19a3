// Command line of the local chain.
import { runLocalChain } from "./main.ts";

const interrupt = new AbortController();
// A second Ctrl-C finds no handler and ends the process at once.
process.once("SIGINT", () => interrupt.abort());
process.once("SIGTERM", () => interrupt.abort());
const { stdout, stderr } = process;
process.exitCode = await runLocalChain(process.argv.slice(2), {
  stdout,
  stderr,
  interrupt: interrupt.signal,
});
