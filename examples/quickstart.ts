// A paid snapshot with the client, next to `npm start`. PAYER_PRIVATE_KEY is the key of the account that pays.
import { createSextant } from "@sextant-index/client";
import { openFileJournal } from "@sextant-index/client/file-journal";
import { privateKeyToAccount } from "viem/accounts";

const portfolio = process.env.SEXTANT_PORTFOLIO_URL ?? "http://127.0.0.1:3002";
const sextant = createSextant({
  portfolio,
  payer: privateKeyToAccount(process.env.PAYER_PRIVATE_KEY as `0x${string}`),
  guard: { network: "eip155:31337", asset: "0x2279b7a0a67db372996a5fab50d91eaa73d2ebe6", payees: "first" },
  journal: openFileJournal("./payments.jsonl"),
});
const bought = await sextant.getPortfolio({ address: "0x14dC79964da2C08b23698B3D3cc7Ca32193d9955" });
const worth = bought.data.summary.totalValueUsd?.replace(/\B(?=(\d{3})+\.)/g, ",");
console.log(`worth $${worth}, paid in ${bought.receipt?.transaction}`);
console.log(`next: open ${portfolio}/exposure?address=${bought.data.address}`);
