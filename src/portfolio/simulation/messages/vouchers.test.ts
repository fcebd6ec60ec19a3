// A voucher of a payment channel on its real contract: what it is said to allow is what its receiver can then claim.

import { CHANNEL_CONTRACTS } from "@sextant/contracts/deploy/deploy";
import { batchSettlementAbi } from "@sextant/contracts/generated/batch-settlement";
import { authorizeDeposit, type ChannelConfig, channelIdOf } from "@sextant/contracts/test/channel-world";
import { expect, it } from "vitest";
import { voucherOf } from "../../../../tests/support/portfolio/message-samples.ts";
import { startMessageStage } from "../../../../tests/support/portfolio/message-stage.ts";

const stage = await startMessageStage();
const { wallet, receiver, chainId, payer } = stage;
const [usd] = stage.tokens;

const config: ChannelConfig = {
  ...{ payer: wallet, payerAuthorizer: wallet, receiver, receiverAuthorizer: receiver, token: usd },
  ...{ withdrawDelay: 86_400, salt: `0x${"01".repeat(32)}` },
};
const channelId = channelIdOf(config);
const voucher = (total: bigint) =>
  voucherOf({ chainId, token: usd, message: { channelId, maxClaimableAmount: total.toString() } });

async function claim(total: bigint, totalClaimed: bigint): Promise<boolean> {
  const signature = await stage.sign(voucher(total));
  const row = { voucher: { channel: config, maxClaimableAmount: total }, signature, totalClaimed };
  return stage.call(receiver, CHANNEL_CONTRACTS.settlement, batchSettlementAbi, "claim", [[row]]);
}

it("says what of a voucher is deposited and can still be claimed, and that its receiver is hidden", async () => {
  await stage.mint(usd, 100n);
  const terms = { payer: wallet, token: usd, channelId, amount: 50n, salt: 1n };
  const deposit = [config, 50n, CHANNEL_CONTRACTS.erc3009Collector, await authorizeDeposit(payer, terms)];
  expect(
    await stage.call(receiver, CHANNEL_CONTRACTS.settlement, batchSettlementAbi, "deposit", deposit),
  ).toBe(true);

  const within = await stage.simulate(voucher(30n));
  expect(within.reasons.map(({ code }) => code)).toEqual(["unknown-receiver"]);
  expect(within.message?.vouchers).toEqual([
    { channelId, rawTotal: "30", rawBalance: "50", rawClaimed: "0", rawAmount: "30" },
  ]);
  expect(await claim(30n, 31n)).toBe(false);
  expect(await claim(30n, 30n)).toBe(true);

  const above = await stage.simulate(voucher(60n));
  expect(above.reasons.map(({ code }) => code)).toEqual(["unknown-receiver", "above-deposit"]);
  expect(above.message?.vouchers).toMatchObject([{ rawClaimed: "30", rawAmount: "20" }]);
  expect(await claim(60n, 51n)).toBe(false);
  expect(await claim(60n, 50n)).toBe(true);
});
