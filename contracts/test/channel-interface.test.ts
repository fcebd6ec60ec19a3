// The payment channels look from outside like those that x402 has deployed: names, hashes, storage and about the gas.
import {
  BATCH_SETTLEMENT_ADDRESS,
  BATCH_SETTLEMENT_DOMAIN,
  claimBatchTypes,
  ERC3009_DEPOSIT_COLLECTOR_ADDRESS,
  refundTypes,
  voucherTypes,
} from "@x402/evm";
import {
  encodeAbiParameters,
  encodeFunctionData,
  type Hex,
  hashTypedData,
  keccak256,
  numberToHex,
  pad,
  toEventSelector,
  toFunctionSelector,
  toHex,
  zeroHash,
} from "viem";
import { describe, expect, it } from "vitest";
import { CHANNEL_CONTRACTS } from "../deploy/deploy.ts";
import { batchSettlementAbi as abi } from "../generated/batch-settlement.ts";
import {
  CHANNEL_DOMAIN,
  type ChannelConfig,
  channelIdOf,
  claimBatchDigest,
  openChannelWorld,
  refundDigest,
  signDigest,
  voucherDigest,
} from "./channel-world.ts";

const { evm, channels, usd, keys, channelOf, depositArgs, claimOf } = await openChannelWorld();
const { payer, receiver, receiverAuthorizer, relayer } = keys;

const SELECTORS = {
  deposit: "0x140f1e75",
  claim: "0x29237b0c",
  claimWithSignature: "0xe43ce1f2",
  settle: "0x9db32a8f",
  initiateWithdraw: "0xcf5cf3dc",
  finalizeWithdraw: "0xe88377b1",
  refund: "0xdce4bfae",
  refundWithSignature: "0xb77433e9",
  getChannelId: "0x5e5e0b87",
  channels: "0x7a7ebd7b",
  pendingWithdrawals: "0xb7f06ebe",
  refundNonce: "0xf0dc792e",
  receivers: "0x21ff6389",
  multicall: "0xac9650d8",
};

const TOPICS = {
  ChannelCreated: "0x69d8248d5566bdb2ebc4d218970710d8378a2ff9b709a999e052b71970f808fa",
  ChannelClosed: "0x8d5942f197f362dfd44dfdc1b0b7a9721c9151b67f55817c83349271d3c08d37",
  Deposited: "0x6c2a09353b5e75e70d0b9778b80a413809bb235d46c211811c474b3346791d89",
  Claimed: "0x36bd546bb573e8921fdbfd934bbed62d872796b01792cd240cce27f79dd3eddd",
  Settled: "0x7337b4386b690fdb8ba66905b92b9d45d33bc6626ee2620c905fb150ec0cc47d",
  Refunded: "0xa84286cf8ebc7903a663c77c8d99aa92b600d4c2fcca872a5d4a663db4eb394b",
  WithdrawInitiated: "0xe4280d0d903c7f258f62b07c62f262377cbaa23f7791d78126e6446e0f0e3c23",
  WithdrawFinalized: "0x546ce1e2242cd930c196bd08b894443562d709b4fffe4f028a75a6d233efc6e3",
};

const ERRORS = [
  ..."InvalidChannel ZeroDeposit DepositOverflow InvalidSignature NotReceiverAuthorizer".split(" "),
  ..."NotAuthorizedToClaim NotAuthorizedToRefund ClaimExceedsCeiling ClaimExceedsBalance".split(" "),
  ..."WithdrawalAlreadyPending WithdrawalNotPending NotAuthorizedToFinalizeWithdraw".split(" "),
  ..."WithdrawDelayNotElapsed NothingToWithdraw WithdrawAmountExceedsAvailable".split(" "),
  ..."WithdrawDelayOutOfRange EmptyBatch DepositCollectionFailed InvalidCollector".split(" "),
  ..."InvalidRefundNonce ZeroRefund".split(" "),
];

describe("payment channels from outside", () => {
  it("channels have the selectors and topics of the deployed contract", () => {
    const functions = abi.filter((item) => item.type === "function");
    for (const [name, selector] of Object.entries(SELECTORS)) {
      const found = functions.filter((item) => item.name === name).map((item) => toFunctionSelector(item));
      expect([name, found]).toEqual([name, [selector]]);
    }
    for (const item of abi.filter((each) => each.type === "event")) {
      if (item.name === "EIP712DomainChanged") continue;
      expect([item.name, toEventSelector(item)]).toEqual([item.name, TOPICS[item.name]]);
    }
    expect(abi.filter(({ type }) => type === "event")).toHaveLength(Object.keys(TOPICS).length + 1);
  });

  it("channels have every error of the deployed contract, without arguments", () => {
    const errors = abi.filter((item) => item.type === "error");
    for (const name of ERRORS) {
      expect([name, errors.find((item) => item.name === name)?.inputs]).toEqual([name, []]);
    }
  });

  it("channels and collector stand at the addresses of the x402 library", () => {
    expect(CHANNEL_CONTRACTS.settlement).toBe(BATCH_SETTLEMENT_ADDRESS);
    expect(CHANNEL_CONTRACTS.erc3009Collector).toBe(ERC3009_DEPOSIT_COLLECTOR_ADDRESS);
    expect(CHANNEL_DOMAIN).toMatchObject(BATCH_SETTLEMENT_DOMAIN);
  });

  it("channels compute the digests that the x402 library signs", async () => {
    const config = channelOf();
    const channelId = channelIdOf(config);
    const domain = CHANNEL_DOMAIN;
    const rows = [await claimOf(config, 7n, 5n), await claimOf(channelOf({ salt: pad("0x09") }), 3n)];
    const claims = rows.map(({ voucher, totalClaimed }) => ({
      channelId: channelIdOf(voucher.channel),
      maxClaimableAmount: voucher.maxClaimableAmount,
      totalClaimed,
    }));
    const digestOf = {
      voucher: hashTypedData({
        domain,
        types: voucherTypes,
        primaryType: "Voucher",
        message: { channelId, maxClaimableAmount: 7n },
      }),
      refund: hashTypedData({
        domain,
        types: refundTypes,
        primaryType: "Refund",
        message: { channelId, nonce: 2n, amount: 9n },
      }),
      claims: hashTypedData({
        domain,
        types: claimBatchTypes,
        primaryType: "ClaimBatch",
        message: { claims },
      }),
    };
    expect(digestOf).toEqual({
      voucher: voucherDigest(channelId, 7n),
      refund: refundDigest(channelId, 2n, 9n),
      claims: claimBatchDigest(rows),
    });
    expect(await channels.read("getChannelId", [config])).toBe(channelId);
    expect(await channels.read("getVoucherDigest", [channelId, 7n])).toBe(digestOf.voucher);
    expect(await channels.read("getRefundDigest", [channelId, 2n, 9n])).toBe(digestOf.refund);
    expect(await channels.read("getClaimBatchDigest", [rows])).toBe(digestOf.claims);
    expect(await channels.read("getClaimBatchDigest", [[]])).toBe(claimBatchDigest([]));
  });

  it("channels publish their type hashes and their domain", async () => {
    const entry = "ClaimEntry(bytes32 channelId,uint128 maxClaimableAmount,uint128 totalClaimed)";
    const types = {
      CHANNEL_CONFIG_TYPEHASH:
        "ChannelConfig(address payer,address payerAuthorizer,address receiver,address receiverAuthorizer,address token,uint40 withdrawDelay,bytes32 salt)",
      VOUCHER_TYPEHASH: "Voucher(bytes32 channelId,uint128 maxClaimableAmount)",
      REFUND_TYPEHASH: "Refund(bytes32 channelId,uint256 nonce,uint128 amount)",
      CLAIM_ENTRY_TYPEHASH: entry,
      CLAIM_BATCH_TYPEHASH: `ClaimBatch(ClaimEntry[] claims)${entry}`,
    } as const;
    for (const [name, text] of Object.entries(types)) {
      expect([name, await channels.read(name as keyof typeof types, [])]).toEqual([
        name,
        keccak256(toHex(text)),
      ]);
    }
    const { name, version, chainId, verifyingContract } = CHANNEL_DOMAIN;
    const domain = ["0x0f", name, version, BigInt(chainId), verifyingContract, zeroHash, []];
    expect(await channels.read("eip712Domain", [])).toEqual(domain);
    expect(await channels.read("MIN_WITHDRAW_DELAY", [])).toBe(900);
    expect(await channels.read("MAX_WITHDRAW_DELAY", [])).toBe(2_592_000);
  });
});

describe("payment channels in storage", () => {
  const slotOf = (key: Hex, slot: bigint) =>
    keccak256(encodeAbiParameters([{ type: "bytes32" }, { type: "uint256" }], [key, slot]));
  const readSlot = (slot: Hex) =>
    evm.chain.request("eth_getStorageAt", [channels.address, slot, "latest"]) as Promise<Hex>;
  const packed = (low: bigint, high: bigint) => numberToHex((high << 128n) | low, { size: 32 });

  it("channels keep every number in the slot that readers of raw storage expect", () =>
    evm.undone(async () => {
      const config = channelOf();
      const id = channelIdOf(config);
      await channels.send(relayer.address, "deposit", await depositArgs(config, 1_000n));
      await channels.send(receiver.address, "claim", [[await claimOf(config, 300n, 200n)]]);
      await channels.send(relayer.address, "settle", [config.receiver, config.token]);
      await channels.send(receiver.address, "claim", [[await claimOf(config, 300n, 250n)]]);
      await channels.send(receiver.address, "refund", [config, 50n]);
      await channels.send(payer.address, "initiateWithdraw", [config, 33n]);
      const time = await evm.now();
      const receiverSlot = slotOf(pad(config.token), BigInt(slotOf(pad(config.receiver), 5n)));
      expect(await readSlot(slotOf(id, 2n))).toBe(packed(950n, 250n));
      expect(await readSlot(slotOf(id, 3n))).toBe(numberToHex(1, { size: 32 }));
      expect(await readSlot(slotOf(id, 4n))).toBe(packed(33n, time));
      expect(await readSlot(receiverSlot)).toBe(packed(250n, 200n));
    }));
});

describe("gas of payment channels", () => {
  // Measured with the deployed contract and this token, as whole transactions; ours may differ a little.
  const expectAbout = (gas: bigint, expected: number) => {
    expect(Math.abs(Number(gas) / expected - 1)).toBeLessThan(0.02);
  };
  const signed = async (config: ChannelConfig, total: bigint) => {
    const rows = [await claimOf(config, total)];
    return [rows, await signDigest(receiverAuthorizer, claimBatchDigest(rows))] as const;
  };

  it("a claim and its payment cost what they cost on real chains, together less than apart", () =>
    evm.undone(async () => {
      const config = channelOf();
      const pair = [config.receiver, config.token] as const;
      await channels.send(relayer.address, "deposit", await depositArgs(config, 1_000_000n));
      const first = await channels.send(
        relayer.address,
        "claimWithSignature",
        await signed(config, 200_000n),
      );
      expectAbout(first.gasUsed, 77_412);
      expectAbout((await channels.send(relayer.address, "settle", pair)).gasUsed, 63_325);
      // From the second time on, the receiver owns the token and no slot is new.
      const together = await channels.send(relayer.address, "multicall", [
        [
          encodeFunctionData({
            abi,
            functionName: "claimWithSignature",
            args: await signed(config, 300_000n),
          }),
          encodeFunctionData({ abi, functionName: "settle", args: pair }),
        ],
      ]);
      expectAbout(together.gasUsed, 85_605);
      expect(await usd.read("balanceOf", [config.receiver])).toBe(300_000n);
    }));

  it("a further channel in a claim costs less than a third of a claim of its own", () =>
    evm.undone(async () => {
      const configs = [1, 2, 3].map((salt) => channelOf({ salt: pad(numberToHex(salt)) }));
      for (const config of configs) {
        await channels.send(relayer.address, "deposit", await depositArgs(config, 100n));
      }
      const rows = await Promise.all(configs.map((config) => claimOf(config, 10n)));
      const gasOf = (some: typeof rows) =>
        evm.undone(async () => (await channels.send(receiver.address, "claim", [some])).gasUsed);
      const [one, three] = [await gasOf(rows.slice(0, 1)), await gasOf(rows)];
      expect((three - one) / 2n).toBeLessThan(one / 3n);
    }));
});
