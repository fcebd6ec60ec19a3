// A new key of the receiver leaves channels of the one before served, claimed and refunded, until they are empty.
// Carries out docs/runbook.md#key-rotation.
import { localAccount } from "@sextant/local-chain/accounts";
import type { Hex } from "viem";
import { afterAll, expect, it } from "vitest";
import { channelSettings } from "../../src/config/payment-settings.ts";
import { readConfig } from "../../src/config/read-config.ts";
import { Secret } from "../../src/lib/secret.ts";
import {
  channelAuthorizer,
  openConfiguredChannels,
} from "../../src/payments/channels/configured-channels.ts";
import { openRecordStore } from "../../src/store/postgres/record-store.ts";
import { signDeposit, withDeposit } from "../support/payments/channel-client.ts";
import { openChannelWorld } from "../support/payments/channel-world.ts";
import { openPaidStage, TEST_CHANNEL_TERMS, TEST_PRICE } from "../support/payments/paid-stage.ts";
import { silentLog } from "../support/quiet-log.ts";

const stage = await openPaidStage("in process");
afterAll(() => stage.close());

const oldKey = channelAuthorizer(new Secret(localAccount(21).privateKey));
const newKey = channelAuthorizer(new Secret(localAccount(23).privateKey));

it("serves, claims and refunds channels of the key before, and makes deposits for the new one only", async () => {
  const before = await stage.serve({ channels: {} });
  expect(TEST_CHANNEL_TERMS.receiverAuthorizer).toBe(oldKey.address);
  const old = await openChannelWorld(stage);
  await old.deposit(10n * TEST_PRICE);
  await expect(old.buy(before, 1)).resolves.toBe(200);

  const terms = {
    ...TEST_CHANNEL_TERMS,
    receiverAuthorizer: newKey.address,
    formerAuthorizers: [oldKey.address],
  };
  const after = await stage.serve({
    channels: { authorizer: newKey, formerAuthorizers: [oldKey] },
    offer: { channels: terms },
  });
  await expect(old.buy(after, 2)).resolves.toBe(200);
  const change = withDeposit(await signDeposit(old.account, old.config, 10n * TEST_PRICE));
  await expect(old.buy(after, 3, "c", { change })).resolves.toBe("receiver_authorizer_mismatch");

  const salt: Hex = `0x${"04".repeat(32)}`;
  const fresh = await openChannelWorld(stage, { salt, receiverAuthorizer: newKey.address });
  const opening = withDeposit(await signDeposit(fresh.account, fresh.config, 10n * TEST_PRICE));
  await expect(fresh.buy(after, 1, "a", { change: opening })).resolves.toBe(200);
  await expect(fresh.buy(before, 2)).resolves.toBe("receiver_authorizer_mismatch");

  // One transaction is signed by one key: the channel of the other one follows.
  await expect(after.claims?.claimNow(null)).resolves.toMatchObject({ claimed: 1 });
  await expect(after.claims?.claimNow(null)).resolves.toMatchObject({ claimed: 1 });
  await expect(stage.balance(stage.payTo)).resolves.toBe(3n * TEST_PRICE);
  await expect(old.buy(after, 3)).resolves.toBe(200);
  await expect(old.refund(after, 3)).resolves.toBe(200);
  await expect(stage.balance(old.account.address)).resolves.toBe(1_000_000n - 3n * TEST_PRICE);
  await expect(old.buy(after, 4)).resolves.toBe("cumulative_exceeds_balance");
});

it.each([
  ["0.5", 10_000n, 500_000n],
  ["0.5", 700_000n, 700_000n],
  ["20", 10_000n, 20_000_000n],
])(
  "lets a channel owe %s dollars before its deposit is final, or the largest price %s",
  (dollars, largestPrice, max) => {
    const key = localAccount(21).privateKey;
    const environment = { PAYMENT_CHANNEL_KEY: key, PAYMENT_CHANNEL_EXPOSURE_USD: dollars };
    const token = { network: stage.rules.network, decimals: 6 };
    const opened = openConfiguredChannels(readConfig(environment, channelSettings), {
      ...{
        token,
        store: openRecordStore(stage.database),
        rpc: stage.rpc,
        sender: stage.sender,
        largestPrice,
      },
      ...{ finality: { finalityDepth: 32, finalityDepthMin: 0 }, log: silentLog },
    });
    expect(opened.exposureMax).toBe(max);
  },
);
