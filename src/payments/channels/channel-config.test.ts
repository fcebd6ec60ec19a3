// Ids and digests equal those of an independent implementation, and only signatures that the contract takes count.
import fc from "fast-check";
import { hashTypedData, numberToHex } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { describe, expect, it } from "vitest";
import type { Hex } from "../../lib/hex.ts";
import { CHANNEL_CONTRACT, ChannelDigests, isVoucherSignature } from "./channel-config.ts";
import { parseChannelPayment } from "./channel-payment.ts";

const NETWORK = "eip155:8453";
const digests = new ChannelDigests(NETWORK);
const domain = {
  name: "x402 Batch Settlement",
  version: "1",
  chainId: 8453,
  verifyingContract: CHANNEL_CONTRACT,
} as const;
const word = (type: string, ...names: readonly string[]) => names.map((name) => ({ name, type }));
const types = {
  ChannelConfig: [
    ...word("address", "payer", "payerAuthorizer", "receiver", "receiverAuthorizer", "token"),
    ...word("uint40", "withdrawDelay"),
    ...word("bytes32", "salt"),
  ],
  Voucher: [...word("bytes32", "channelId"), ...word("uint128", "maxClaimableAmount")],
  Refund: [...word("bytes32", "channelId"), ...word("uint256", "nonce"), ...word("uint128", "amount")],
  ClaimEntry: [...word("bytes32", "channelId"), ...word("uint128", "maxClaimableAmount", "totalClaimed")],
  ClaimBatch: word("ClaimEntry[]", "claims"),
};
const digestOf = (primaryType: keyof typeof types, message: object) =>
  hashTypedData({ domain, types, primaryType, message: message as never });

const hex = (bytes: number) =>
  fc
    .uint8Array({ minLength: bytes, maxLength: bytes })
    .map((value): Hex => `0x${Buffer.from(value).toString("hex")}`);
const amount = fc.bigInt({ min: 0n, max: 2n ** 128n - 1n });
const members = {
  payer: hex(20),
  payerAuthorizer: hex(20),
  receiver: hex(20),
  receiverAuthorizer: hex(20),
  token: hex(20),
  withdrawDelay: fc.integer({ min: 0, max: 2 ** 40 - 1 }),
  salt: hex(32),
};
const configs = fc.record(members);

describe("what is signed about channels", () => {
  it("hashes channels, vouchers, refunds and claims as viem does", () => {
    fc.assert(
      fc.property(configs, amount, amount, hex(65), (config, max, total, signature) => {
        const channelId = digestOf("ChannelConfig", config);
        expect(digests.channelId(config)).toBe(channelId);
        expect(digests.voucher(channelId, max)).toBe(
          digestOf("Voucher", { channelId, maxClaimableAmount: max }),
        );
        expect(digests.refund(channelId, max, total)).toBe(
          digestOf("Refund", { channelId, nonce: max, amount: total }),
        );
        const claim = { config, maxClaimable: max, signature, totalClaimed: total };
        const entry = { channelId, maxClaimableAmount: max, totalClaimed: total };
        expect(digests.claimBatch([claim, claim])).toBe(digestOf("ClaimBatch", { claims: [entry, entry] }));
      }),
      { numRuns: 30 },
    );
  });

  it("gives channels that differ in one member ids of their own, also when it was asked for them before", () => {
    const names = fc.constantFrom(...(Object.keys(members) as (keyof typeof members)[]));
    fc.assert(
      fc.property(configs, configs, names, (config, other, member) => {
        const changed = { ...config, [member]: other[member] };
        const expected = [config, changed].map((each) => digestOf("ChannelConfig", each));
        for (let round = 0; round < 2; round += 1) {
          expect([config, changed].map((each) => digests.channelId(each))).toEqual(expected);
        }
        // Another network has other ids, whatever this one remembers.
        expect(new ChannelDigests("eip155:137").channelId(config)).not.toBe(expected[0]);
      }),
      { numRuns: 30 },
    );
  });

  it("takes a signature in the form of the contract only, and of the right key", async () => {
    const key = privateKeyToAccount(`0x${"42".repeat(32)}`);
    const signer = key.address.toLowerCase() as Hex;
    const digest = digests.voucher(`0x${"07".repeat(32)}`, 5n);
    const signature = await key.sign({ hash: digest });
    await expect(isVoucherSignature(digest, signature, signer)).resolves.toBe(true);
    await expect(isVoucherSignature(digest, signature, `0x${"11".repeat(20)}`)).resolves.toBe(false);
    const s = BigInt(`0x${signature.slice(66, 130)}`);
    const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
    const otherS = numberToHex(order - s, { size: 32 }).slice(2);
    const last = signature.slice(130);
    const mirrored = `${signature.slice(0, 66)}${otherS}${last === "1b" ? "1c" : "1b"}` as Hex;
    const short = `${signature.slice(0, 130)}${last === "1b" ? "00" : "01"}` as Hex;
    for (const refused of [mirrored, short, signature.slice(0, 130) as Hex]) {
      await expect(isVoucherSignature(digest, refused, signer)).resolves.toBe(false);
    }
  });
});

describe("a payment by channel", () => {
  const config = {
    ...{
      payer: `0x${"01".repeat(20)}`,
      payerAuthorizer: `0x${"02".repeat(20)}`,
      receiver: `0x${"03".repeat(20)}`,
    },
    ...{ receiverAuthorizer: `0x${"04".repeat(20)}`, token: `0x${"05".repeat(20)}` },
    ...{ withdrawDelay: 900, salt: `0x${"06".repeat(32)}` },
  };
  const voucher = {
    channelId: `0x${"07".repeat(32)}`,
    maxClaimableAmount: "5",
    signature: `0x${"08".repeat(65)}`,
  };
  const valid = { type: "voucher", channelConfig: config, voucher };

  it("rejects any member that is missing or of another kind with our own message", () => {
    const paths = [
      ...Object.keys(config).map((name) => ["channelConfig", name]),
      ...Object.keys(voucher).map((name) => ["voucher", name]),
    ] as const;
    const broken = fc.constantFrom(undefined, null, -1, 1.5, "", "0x", "-5", {}, [], true, "9".repeat(80));
    fc.assert(
      fc.property(fc.constantFrom(...paths), broken, ([part = "", name = ""], value) => {
        const payload = structuredClone(valid) as unknown as Record<string, Record<string, unknown>>;
        const changed = { ...payload, [part]: { ...payload[part], [name]: value } };
        // A signature may have any length up here: it is checked where the key is known.
        if (name === "signature" && value === "0x") return;
        expect(() => parseChannelPayment(changed, "It")).toThrow(/^It/);
      }),
    );
  });

  it("reads the same payment from any case of hex", () => {
    const upper = JSON.parse(
      JSON.stringify(valid).replace(/0x[0-9a-f]+/g, (text) => `0x${text.slice(2).toUpperCase()}`),
    );
    expect(parseChannelPayment(upper, "It")).toEqual(parseChannelPayment(valid, "It"));
  });
});
