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
    `  Indexing API     ${api}/docs`,
    `  Local chain      ${economy.rpcUrl}   ${economy.wsUrl}   chain id ${chainId}`,
    "",
    "  Click",
    `    ${api}/intents?status=open`,
    `    ${api}/merchants/1/reputation`,
    `    ${api}/analytics/commerce`,
    "",
    "  Copy",
    `    curl -s '${api}/agents/1?include=provenance'`,
    `    curl -s ${api}/preflight -H 'content-type: application/json' -d '{"account":"${contracts.IntentBook}","target":"${contracts.IntentBook}","value":"1","data":"0x"}'`,
    `    curl -s ${api}/catalogs -H 'content-type: application/json' -d '{"catalog_json":"{\\"name\\":\\"mine\\"}"}'`,
    `    curl -s ${api}/ready`,
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
