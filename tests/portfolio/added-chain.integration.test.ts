// A chain is added by its entry in chain-data/chains.json and its data, and by nothing else.
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { startLocalChain } from "@sextant/local-chain/local-chain";
import { concatHex, numberToHex } from "viem";
import { expect, it, onTestFinished } from "vitest";
import { fixedReturnCode } from "../support/chain/fixed-return-contract.ts";
import { copySources } from "../support/copy-sources.ts";
import { CHECKOUT, createDatabaseEnvironment, startSextant } from "../support/process/sextant-process.ts";
import { createTestFolder } from "../support/test-folder.ts";

const CHAIN_ID = 777_001;
const FEED = `0x${"fe".repeat(20)}` as const;
const LINKED = ["package.json", "tsconfig.json", "node_modules", "contracts", "packages"];

/** A checkout with one more chain: its facts, and a feed of its coin. */
async function copyWithAddedChain(): Promise<string> {
  const folder = await createTestFolder();
  for (const name of [...LINKED, "deployments", "token-lists"])
    symlinkSync(join(CHECKOUT, name), join(folder, name));
  copySources(CHECKOUT, ["bin", "src", "chain-data"], folder);
  const file = join(folder, "chain-data/chains.json");
  const chains: readonly Record<string, unknown>[] = JSON.parse(readFileSync(file, "utf8"));
  const base = chains.find(({ slug }) => slug === "base");
  const { dataFee: _, nameService: _names, paymentAsset: _asset, ...facts } = base ?? {};
  const added = {
    ...facts,
    slug: "atlantis",
    chainId: CHAIN_ID,
    name: "Atlantis",
    dataFiles: ["price-feeds"],
  };
  writeFileSync(file, JSON.stringify([...chains, added]));
  const data = { native: { feed: FEED, heartbeatSeconds: 86_400 }, sequencer: null, tokens: [] };
  mkdirSync(join(folder, "chain-data/atlantis"));
  writeFileSync(
    join(folder, "chain-data/atlantis/price-feeds.json"),
    JSON.stringify({ chainlink: { sources: ["this test"], date: "2026-11-18", data } }),
  );
  return folder;
}

it("serves, prices and offers a chain that only the data names", async () => {
  const chain = await startLocalChain({ chainId: CHAIN_ID });
  onTestFinished(() => chain.stop());
  // Older than the block, whatever second the chain is at.
  const updatedAt = BigInt(Math.floor(Date.now() / 1_000) - 60);
  const round = [1n, 2_000n * 10n ** 8n, updatedAt, updatedAt, 1n].map((word) =>
    numberToHex(word, { size: 32 }),
  );
  await chain.setCode(
    FEED,
    fixedReturnCode({ "latestRoundData()": concatHex(round), "decimals()": numberToHex(8, { size: 32 }) }),
  );
  await chain.mine();
  const database = await createDatabaseEnvironment();
  onTestFinished(() => database.drop());
  const wallet = chain.accounts.payer.address;
  const service = startSextant(["portfolio"], {
    checkout: await copyWithAddedChain(),
    environment: {
      ...database.environment,
      ...{ PORTFOLIO_PORT: "0", PAY_TO: wallet, X402_DEV_BYPASS: "true" },
      [`RPC_URL_${CHAIN_ID}`]: chain.rpcUrl,
    },
  });
  onTestFinished(() => void service.child.kill());
  const said = await service.waitForOutput(/"event":"portfolio_listening","url":"[^"]+"/);
  const url = /"portfolio_listening","url":"([^"]+)"/.exec(said)?.[1];

  const readSnapshot = async () => (await fetch(`${url}/portfolio?address=${wallet}`)).json();
  // Repeated: on a slow machine the first read may be out of time for prices.
  await expect.poll(readSnapshot).toMatchObject({
    chains: ["atlantis"],
    tokens: [{ chain: "atlantis", chainId: `eip155:${CHAIN_ID}`, symbol: "ETH", priceUsd: "2000" }],
  });
  const document = await (await fetch(`${url}/openapi.json`)).text();
  expect(document).toContain("atlantis");
});
