// The ordinary command with PAYMENT_CHANNELS sells a thousand calls to the stock client for a deposit and a claim.
// A landing makes a sixteenth of them. The fast sentinel is tests/payments/channel-purchases.test.ts.
import { usdCoinAbi } from "@sextant/contracts/generated/usd-coin";
import { localAccount } from "@sextant/local-chain/accounts";
import { startLocalChain } from "@sextant/local-chain/local-chain";
import type { Hex } from "viem";
import { afterAll, expect, it } from "vitest";
import { createChannelClient } from "../support/payments/channel-client.ts";
import { waitFor } from "../support/payments/paid-client.ts";
import { openPaidStage } from "../support/payments/paid-stage.ts";
import { runSextantInProcess } from "../support/process/run-in-process.ts";
import { startPortfolioCommand } from "../support/process/service-command.ts";
import { createDatabaseEnvironment } from "../support/process/sextant-process.ts";
import { runsOf } from "../support/test-depth.ts";

const [stage, market, database] = await Promise.all([
  openPaidStage("in process"),
  startLocalChain({ chainId: 8453 }),
  createDatabaseEnvironment(),
]);
afterAll(async () => {
  await market.stop();
  await stage.close();
  await database.drop();
});

const CALLS = runsOf(1_000);
const PRICE = 1_000n;
const TOTAL = BigInt(CALLS) * PRICE;
const dollars = (units: bigint) => (Number(units) / 1e6).toFixed(6);
const { chain, node, asset, payTo } = stage;
const signer = localAccount(24);
const environment = {
  ...database.environment,
  ...{ SEXTANT_METRICS_PORT: "shared", SEXTANT_REQUESTS_PER_MINUTE: "0", PORTFOLIO_PORT: "0" },
  ...{ RPC_URL_8453: market.rpcUrl, PAY_TO: payTo, PORTFOLIO_PRICE_USD: dollars(PRICE) },
  ...{ PAYMENT_NETWORK: "eip155:31337", PAYMENT_RPC_URL: chain.rpcUrl, PAYMENT_ASSET: asset },
  ...{ PAYMENT_ASSET_NAME: "USD Coin", PAYMENT_ASSET_VERSION: "2" },
  ...{ FACILITATOR_PRIVATE_KEY: localAccount(25).privateKey, FACILITATOR_GAS_PRICE_MAX: "100" },
  ...{ PAYMENT_CHANNELS: "true", PAYMENT_CHANNEL_KEY: signer.privateKey },
  // Half of the calls are claimed by size, the others by the operator.
  ...{ PAYMENT_CHANNEL_DEPOSIT_USD: dollars(TOTAL), PAYMENT_CHANNEL_CLAIM_USD: dollars(TOTAL) },
};

it(`sells ${CALLS} calls for a deposit and a claim through the ordinary command`, async () => {
  const service = startPortfolioCommand(environment);
  const url = await service.listening();
  expect(service.logged()).toContain(`"receiverAuthorizer":"${signer.address.toLowerCase()}"`);
  expect(service.logged()).not.toContain(signer.privateKey.slice(2));
  // Blocks keep coming, as on any chain.
  await chain.request("evm_setIntervalMining", [10_000]);
  const client = createChannelClient(await stage.payer(1n), { node, asset });
  const facilitator = localAccount(25).address;
  const sentBefore = await node.getTransactionCount({ address: facilitator });
  const before = await stage.balance(payTo);
  const path = `/portfolio?address=${market.accounts.payer.address}`;
  for (let call = 0; call < CALLS; call += 1) {
    const response = await client.pay(url + path);
    expect([call, response.status]).toEqual([call, 200]);
    await response.arrayBuffer();
  }
  expect(client.sent).toHaveLength(CALLS);
  const paid = async () => (await stage.balance(payTo)) - before;
  await waitFor(async () => (await paid()) === TOTAL);
  expect((await node.getTransactionCount({ address: facilitator })) - sentBefore).toBe(2);
  const transfers = await node.getContractEvents({
    ...{ address: asset as Hex, abi: usdCoinAbi, eventName: "Transfer", args: { to: payTo }, fromBlock: 0n },
  });
  expect(transfers.map(({ args }) => args)).toEqual([expect.objectContaining({ value: TOTAL })]);

  // The service follows the chain a block later.
  const metrics = async () => (await fetch(`${url}/metrics`)).text();
  await waitFor(async () => (await metrics()).includes("sextant_channels_unclaimed 0"), 60_000);
  const listed = await runSextantInProcess(["channels", "--json"], environment);
  expect(JSON.parse(listed.out)).toMatchObject({ state: "open", charged: String(TOTAL), unclaimed: "0" });
  service.stop.abort();
  expect(await service.ended).toBe(0);
}, 900_000);

it("claims and refunds for the operator while the service runs", async () => {
  const service = startPortfolioCommand({ ...environment, PAYMENT_CHANNEL_CLAIM_USD: "1000" });
  const url = await service.listening();
  const payer = await stage.payer(1n);
  const client = createChannelClient(payer, { node, asset });
  const path = `/portfolio?address=${market.accounts.payer.address}`;
  for (let call = 0; call < 3; call += 1) expect((await client.pay(url + path)).status).toBe(200);
  const before = await stage.balance(payTo);
  const listed = await runSextantInProcess(["channels"], environment, process.cwd(), 80);
  const lines = listed.out.trimEnd().split("\n");
  expect(lines.every((line) => line.length <= 80)).toBe(true);
  expect(lines[1]).toMatch(/^0x.* open +3000 /);
  const [channel = ""] = (await runSextantInProcess(["channels", "--json"], environment)).out
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line))
    .filter(({ unclaimed }) => unclaimed !== "0")
    .map((each) => String(each.channel));
  const claimed = await runSextantInProcess(["channels", "--claim", "all"], environment);
  expect([claimed.code, claimed.out]).toEqual([0, expect.stringMatching(/^0x[0-9a-f]{64}\n {2}Claimed: 0x/)]);
  expect((await stage.balance(payTo)) - before).toBe(3n * PRICE);
  const closed = await runSextantInProcess(["channels", "--close", channel], environment);
  expect([closed.code, closed.out]).toEqual([0, expect.stringContaining("Refunded")]);
  await expect(stage.balance(payer.address)).resolves.toBe(1_000_000n - 3n * PRICE);
  const freed = await runSextantInProcess(["channels", "--free", "all"], environment);
  expect([freed.code, freed.out]).toEqual([1, "No channel was claimed by another database.\n"]);
  service.stop.abort();
  expect(await service.ended).toBe(0);
}, 300_000);
