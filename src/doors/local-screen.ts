// What a person sees who starts Sextant locally: where to look, what to try, and that it lives.
import type { IndexerReport } from "./indexer-status.ts";
import type { EconomyTally, LocalEconomy } from "./local-economy.ts";

export function localBanner({ api, economy }: { api: string; economy: LocalEconomy }): string {
  const { contracts, chainId } = economy.deployment;
  const rows = Object.entries(contracts).map(([name, address]) => `    ${name.padEnd(20)} ${address}`);
  return [
    "",
    "  Sextant is running on this machine. Nothing here is real money, and nothing leaves it.",
    "",
    `  Indexing API     ${api}   (health, readiness and metrics so far)`,
    `  Local chain      ${economy.rpcUrl}   ${economy.wsUrl}   chain id ${chainId}`,
    "",
    "  Try",
    `    curl ${api}/ready`,
    `    curl ${api}/metrics`,
    `    curl -s ${economy.rpcUrl} -H 'content-type: application/json' -d '{"jsonrpc":"2.0","id":1,"method":"eth_blockNumber","params":[]}'`,
    "",
    "  Contracts",
    ...rows,
    "",
    "  Ctrl-C stops it and leaves nothing behind.",
    "",
    "",
  ].join("\n");
}

export function localStatusLine(
  tally: EconomyTally,
  { phase, head, indexed, reorgs }: IndexerReport,
): string {
  const behind = head && indexed ? head.number - indexed.number : null;
  const lag = behind === null ? "" : behind === 0 ? ", level with the chain" : `, ${behind} behind`;
  return `  block ${head?.number ?? "–"}${lag} · ${tally.steps} steps of the economy · index ${phase}${reorgs ? ` · ${reorgs} reorgs` : ""}`;
}
