// Payer and payee compute ids and nonces of channels by programs of their own, and must agree for every channel.
import fc from "fast-check";
import { hashTypedData } from "viem";
import { expect, it } from "vitest";
import {
  CHANNEL_CONTRACT,
  channelIdOf,
  DEPOSIT_COLLECTOR,
  depositNonceOf,
  voucherTypedData,
} from "../../packages/client/channels/channel-typed-data.ts";
import * as payee from "../../src/payments/channels/channel-config.ts";

const hex = (bytes: number) =>
  fc
    .uint8Array({ minLength: bytes, maxLength: bytes })
    .map((given) => `0x${Buffer.from(given).toString("hex")}` as const);
const configs = fc.record({
  payer: hex(20),
  payerAuthorizer: hex(20),
  receiver: hex(20),
  receiverAuthorizer: hex(20),
  token: hex(20),
  withdrawDelay: fc.integer({ min: 900, max: 2_592_000 }),
  salt: hex(32),
});

it("computes the ids, vouchers and nonces of deposits that the payee computes", () => {
  expect([CHANNEL_CONTRACT, DEPOSIT_COLLECTOR]).toEqual([payee.CHANNEL_CONTRACT, payee.ERC3009_COLLECTOR]);
  const sums = fc.bigInt({ min: 0n, max: 2n ** 128n - 1n });
  fc.assert(
    fc.property(configs, fc.integer({ min: 1, max: 2 ** 31 }), sums, hex(32), (config, chain, sum, salt) => {
      const network = `eip155:${chain}`;
      const digests = new payee.ChannelDigests(network);
      const id = channelIdOf(network, config);
      expect(id).toBe(digests.channelId(config));
      expect(hashTypedData(voucherTypedData(network, id, sum))).toBe(digests.voucher(id, sum));
      expect(depositNonceOf(id, salt)).toBe(payee.depositNonceOf(id, BigInt(salt)));
    }),
    { numRuns: 30 },
  );
});
