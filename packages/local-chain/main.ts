// The local-chain command: starts one chain, prints its URLs and funded accounts, and serves until interrupted.
import { parseArgs } from "node:util";
import { LOCAL_ACCOUNT_NAMES, LOCAL_MNEMONIC } from "./accounts.ts";
import { type LocalChain, startLocalChain } from "./local-chain.ts";

const USAGE = "Usage: run.ts [--chain-id 31337] [--port 8545] [--hostname 127.0.0.1] [--block-time-ms 2000]";

type OutputStream = { write(text: string): unknown };

export type LocalChainHost = {
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  /** Stops the chain. */
  readonly interrupt: AbortSignal;
};

/** Resolves with the exit code. */
export async function runLocalChain(args: readonly string[], host: LocalChainHost): Promise<number> {
  try {
    const chain = await startChain(args);
    host.stdout.write(describeChain(chain));
    await untilAborted(host.interrupt);
    await chain.stop();
    return 0;
  } catch (error) {
    host.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    return 1;
  }
}

function startChain(args: readonly string[]): Promise<LocalChain> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      "chain-id": { type: "string", default: "31337" },
      port: { type: "string", default: "8545" },
      hostname: { type: "string", default: "127.0.0.1" },
      "block-time-ms": { type: "string" },
    },
  });
  const blockTime = values["block-time-ms"];
  return startLocalChain({
    chainId: readInteger("chain-id", values["chain-id"]),
    port: readInteger("port", values.port),
    hostname: values.hostname,
    ...(blockTime === undefined ? {} : { blockTimeMs: readInteger("block-time-ms", blockTime) }),
  });
}

function readInteger(name: string, text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new Error(`--${name} takes a whole number, not "${text}". ${USAGE}`);
  return Number(text);
}

function describeChain(chain: LocalChain): string {
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

async function untilAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}
