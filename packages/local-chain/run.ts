// Command line: starts one local chain, prints where it is and who has money, runs until interrupted.
import { parseArgs } from "node:util";
import { LOCAL_ACCOUNT_NAMES, LOCAL_MNEMONIC } from "./accounts.ts";
import type { LocalChain } from "./local-chain.ts";
import { startLocalChain } from "./local-chain.ts";

const USAGE = "Usage: run.ts [--chain-id 31337] [--port 8545] [--hostname 127.0.0.1] [--block-time-ms 2000]";

function readInteger(name: string, text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new Error(`--${name} takes a whole number, not "${text}". ${USAGE}`);
  return Number(text);
}

function describe(chain: LocalChain): string {
  const rows = LOCAL_ACCOUNT_NAMES.map((name) => {
    const { address, privateKey } = chain.accounts[name];
    return `  ${name.padEnd(12)}${address}  ${privateKey}`;
  });
  return [
    `Local chain ${chain.chainId}`,
    `  HTTP        ${chain.rpcUrl}`,
    `  WebSocket   ${chain.wsUrl}`,
    `Accounts, from the public mnemonic "${LOCAL_MNEMONIC}": never use them on a real network`,
    ...rows,
    "Ctrl-C stops it.\n",
  ].join("\n");
}

try {
  const { values } = parseArgs({
    options: {
      "chain-id": { type: "string", default: "31337" },
      port: { type: "string", default: "8545" },
      hostname: { type: "string", default: "127.0.0.1" },
      "block-time-ms": { type: "string" },
    },
  });
  const blockTime = values["block-time-ms"];
  const chain = await startLocalChain({
    chainId: readInteger("chain-id", values["chain-id"]),
    port: readInteger("port", values.port),
    hostname: values.hostname,
    ...(blockTime === undefined ? {} : { blockTimeMs: readInteger("block-time-ms", blockTime) }),
  });
  // A second Ctrl-C finds no handler and ends the process at once.
  process.once("SIGINT", () => void chain.stop());
  process.once("SIGTERM", () => void chain.stop());
  process.stdout.write(describe(chain));
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
