// The main calls with the client, next to `npm start`: docs/calls.md explains each region.
// #region setup
import { createSextant } from "@sextant-index/client";
import { openFileJournal } from "@sextant-index/client/file-journal";
import { privateKeyToAccount } from "viem/accounts";

const address = "0x14dC79964da2C08b23698B3D3cc7Ca32193d9955";
const sextant = createSextant({
  api: process.env.SEXTANT_API_URL ?? "http://127.0.0.1:3001",
  portfolio: process.env.SEXTANT_PORTFOLIO_URL ?? "http://127.0.0.1:3002",
  payer: privateKeyToAccount(process.env.PAYER_PRIVATE_KEY as `0x${string}`),
  guard: { network: "eip155:31337", asset: "0x2279b7a0a67db372996a5fab50d91eaa73d2ebe6", payees: "first" },
  journal: openFileJournal("./payments.jsonl"),
});
// #endregion setup

// #region snapshot
const bought = await sextant.getPortfolio({ address, chains: "base" });
console.log(bought.data.summary.totalValueUsd, bought.receipt?.transaction);
// #endregion snapshot

// #region exposure
const { data: exposure } = await sextant.getExposure({ address });
for (const { kind, spender } of exposure.permissions) console.log(kind, spender);
// #endregion exposure

// #region diff
const { data: diff } = await sextant.getPortfolioDiff({ address, chains: "base", from: "7d" });
for (const { contract, changeUsd } of diff.tokens) console.log(contract, changeUsd);
// #endregion diff

// #region record
const agent = await sextant.getAgent({ agentId: "1" });
console.log(agent.owner);
// #endregion record

// #region list
for await (const intent of sextant.listIntents({ status: "open" })) console.log(intent.intent_id);
// #endregion list

// #region preflight
const verdict = await sextant.preflight({
  account: "0x3958cf1cf076864bb2c6c05172696fb64316aa3f",
  target: "0x8a791620dd6260079bf849dc5567adc3f2fdc318",
  value: "0",
  data: "0x",
});
console.log(verdict.allowed, verdict.reasons);
// #endregion preflight

// #region events
for await (const item of sextant.watch({ type: ["IntentSubmitted"] }, { from: "genesis" })) {
  console.log(item.kind, item.cursor);
  break;
}
// #endregion events
