// Deposits of payment channels by both collectors, by hostile ones and with hostile tokens, and calls from within a call.
import {
  type Address,
  encodeAbiParameters,
  encodeFunctionData,
  type Hex,
  maxUint256,
  pad,
  parseSignature,
  zeroAddress,
  zeroHash,
} from "viem";
import { describe, expect, it } from "vitest";
import { CHANNEL_CONTRACTS } from "../deploy/deploy.ts";
import { batchSettlementAbi as abi } from "../generated/batch-settlement.ts";
import { erc3009CollectorAbi } from "../generated/erc3009-collector.ts";
import { permit2CollectorAbi } from "../generated/permit2-collector.ts";
import { usdCoinAbi } from "../generated/usd-coin.ts";
import { crookedTokenBehaviours } from "./actor-contracts.ts";
import {
  authorizeDeposit,
  channelIdOf,
  claimBatchDigest,
  openChannelWorld,
  PERMIT2_ADDRESS,
  permitDeposit,
  refundDigest,
  signDigest,
} from "./channel-world.ts";
import { decodeEvents, expectBareRevert, expectRevert, revertReasonOf } from "./evm.ts";
import { highS, signPermit, usdDomain } from "./usd-authorizations.ts";

const world = await openChannelWorld();
const { evm, channels, usd, wallet, crooked, puppet, keys, channelOf, depositArgs, claimOf } = world;
const { payer, payerAuthorizer, receiver, receiverAuthorizer, relayer, intruder } = keys;
const erc3009 = evm.at(erc3009CollectorAbi, CHANNEL_CONTRACTS.erc3009Collector);
const permit2 = evm.at(permit2CollectorAbi, CHANNEL_CONTRACTS.permit2Collector);

const balanceOf = async (config: ReturnType<typeof channelOf>) =>
  (await channels.read("channels", [channelIdOf(config)]))[0];

describe("collectors of deposits", () => {
  it("collectors obey the channels only", async () => {
    const args = [payer.address, usd.address, 1n, zeroHash, "0x"] as const;
    const expectRejection = (sent: Promise<unknown>) =>
      expectRevert(sent, erc3009CollectorAbi, "OnlyX402BatchSettlement");
    await expectRejection(erc3009.send(intruder.address, "collect", args));
    await expectRejection(permit2.send(intruder.address, "collect", args));
    expect(await erc3009.read("x402BatchSettlement", [])).toBe(channels.address);
    expect(await permit2.read("x402BatchSettlement", [])).toBe(channels.address);
    expect(await permit2.read("PERMIT2", [])).toBe(PERMIT2_ADDRESS);
  });

  it("an authorization for one channel does not pay into another, nor another amount, nor twice", () =>
    evm.undone(async () => {
      const config = channelOf();
      const other = channelOf({ salt: pad("0x77") });
      const terms = { ...config, channelId: channelIdOf(config), amount: 50n, salt: 9n };
      const data = await authorizeDeposit(payer, terms);
      const pay = (into: typeof config, amount: bigint) =>
        channels.send(relayer.address, "deposit", [into, amount, erc3009.address, data]);
      await expectRevert(pay(other, 50n), usdCoinAbi, "InvalidSignature", [payer.address]);
      await expectRevert(pay(config, 51n), usdCoinAbi, "InvalidSignature", [payer.address]);
      await pay(config, 50n);
      expect((await revertReasonOf(pay(config, 50n), usdCoinAbi))?.errorName).toBe(
        "AuthorizationUsedOrCanceled",
      );
      expect(await balanceOf(config)).toBe(50n);
    }));

  it("Permit2 pays into the channel that its witness names only", () =>
    evm.undone(async () => {
      const config = channelOf();
      await usd.send(payer.address, "approve", [PERMIT2_ADDRESS, maxUint256]);
      const terms = { ...config, channelId: channelIdOf(config), amount: 50n, salt: 9n };
      const data = await permitDeposit(payer, terms);
      const pay = (into: typeof config) =>
        channels.send(relayer.address, "deposit", [into, 50n, permit2.address, data]);
      expect(await isReverted(pay(channelOf({ salt: pad("0x77") })))).toBe(true);
      await pay(config);
      expect(await balanceOf(config)).toBe(50n);
      expect(await isReverted(pay(config))).toBe(true);
    }));

  it("a permit of the token gives Permit2 its allowance, for the amount of the deposit only", () =>
    evm.undone(async () => {
      const config = channelOf();
      const terms = { ...config, channelId: channelIdOf(config), amount: 50n, salt: 9n };
      const allow = async (value: bigint) => {
        const message = {
          owner: payer.address,
          spender: PERMIT2_ADDRESS,
          value,
          nonce: 0n,
          deadline: 2n ** 40n,
        };
        const { r, s, yParity } = parseSignature(await signPermit(payer, usdDomain(usd.address), message));
        return encodeAbiParameters(
          [
            { type: "uint256" },
            { type: "uint256" },
            { type: "uint8" },
            { type: "bytes32" },
            { type: "bytes32" },
          ],
          [value, 2n ** 40n, 27 + yParity, r, s],
        );
      };
      const pay = async (allowance: Hex) => {
        const data = await permitDeposit(payer, terms, allowance);
        return channels.send(relayer.address, "deposit", [config, 50n, permit2.address, data]);
      };
      await expectRevert(pay(await allow(51n)), permit2CollectorAbi, "Permit2612AmountMismatch");
      await evm.undone(async () => {
        await pay(await allow(50n));
        expect(await balanceOf(config)).toBe(50n);
      });
      // The permit was used before: the allowance is there, and the deposit goes on.
      await usd.send(payer.address, "approve", [PERMIT2_ADDRESS, 50n]);
      await usd.send(intruder.address, "permit", [
        ...([payer.address, PERMIT2_ADDRESS, 50n, 2n ** 40n] as const),
        await signPermit(payer, usdDomain(usd.address), {
          owner: payer.address,
          spender: PERMIT2_ADDRESS,
          value: 50n,
          nonce: 0n,
          deadline: 2n ** 40n,
        }),
      ]);
      const receipt = await pay(await allow(50n));
      const names = decodeEvents(receipt, [...abi, ...permit2CollectorAbi, ...usdCoinAbi]).map(
        ({ eventName }) => eventName,
      );
      expect(names).toContain("EIP2612PermitFailedWithData");
      expect(await balanceOf(config)).toBe(50n);
    }));

  it("a collector that brings another amount than the deposit is rejected, whatever the token does", () =>
    evm.undone(async () => {
      const config = channelOf({ token: crooked.address });
      await crooked.send(payer.address, "mint", [payer.address, 1_000n]);
      await crooked.send(payer.address, "approve", [puppet.address, maxUint256]);
      for (const [index, behaviour] of crookedTokenBehaviours.entries()) {
        await crooked.send(payer.address, "setHabit", [index]);
        await puppet.send(payer.address, "rehearse", [crooked.address, 0n, pull(50n), false]);
        const reason = await evm.undone(() =>
          revertReasonOf(channels.send(relayer.address, "deposit", [config, 50n, puppet.address, "0x"]), abi),
        );
        // A transfer that calls its recipient fails: the channels have no fallback.
        const isHonest = ["HONEST", "OVERCHARGES", "ANSWERS_NOTHING"].includes(behaviour);
        const expected = isHonest ? undefined : "DepositCollectionFailed";
        expect([behaviour, reason?.errorName]).toEqual([behaviour, expected]);
      }
      await puppet.send(payer.address, "rehearse", [crooked.address, 0n, pull(49n), false]);
      const short = channels.send(relayer.address, "deposit", [config, 50n, puppet.address, "0x"]);
      await expectRevert(short, abi, "DepositCollectionFailed");
    }));

  it("a deposit needs a collector with code", async () => {
    const [config, amount] = [channelOf(), 5n];
    const none = channels.send(relayer.address, "deposit", [config, amount, zeroAddress, "0x"]);
    await expectRevert(none, abi, "InvalidCollector");
    await expectBareRevert(
      channels.send(relayer.address, "deposit", [config, amount, intruder.address, "0x"]),
    );
  });
});

describe("signatures of payment channels", () => {
  it("a contract validates signatures as payer and as receiver authorizer, not as payer authorizer", () =>
    evm.undone(async () => {
      const config = channelOf({
        payer: wallet.address,
        payerAuthorizer: zeroAddress,
        receiverAuthorizer: wallet.address,
      });
      await channels.send(relayer.address, "deposit", await depositArgs(config, 100n));
      const rows = [await claimOf(config, 40n)];
      const signature = await signDigest(payer, claimBatchDigest(rows));
      await channels.send(intruder.address, "claimWithSignature", [rows, signature]);
      const id = channelIdOf(config);
      const refund = [config, 60n, 0n, await signDigest(payer, refundDigest(id, 0n, 60n))] as const;
      await channels.send(intruder.address, "refundWithSignature", refund);
      expect(await channels.read("channels", [id])).toEqual([40n, 40n]);

      const keyed = channelOf({ payerAuthorizer: wallet.address });
      await channels.send(relayer.address, "deposit", await depositArgs(keyed, 100n));
      const row = await claimOf(keyed, 40n, 40n, payer);
      await expectRevert(channels.send(receiver.address, "claim", [[row]]), abi, "InvalidSignature");
    }));

  it("a voucher with the mirrored signature, or one of another length, is rejected", () =>
    evm.undone(async () => {
      const config = channelOf();
      await channels.send(relayer.address, "deposit", await depositArgs(config, 100n));
      const row = await claimOf(config, 40n);
      const claim = (signature: Hex) => channels.send(receiver.address, "claim", [[{ ...row, signature }]]);
      const mirrored = highS(row.signature);
      const s = `0x${mirrored.slice(66, 130)}` as const;
      await expectRevert(claim(mirrored), abi, "ECDSAInvalidSignatureS", [s]);
      await expectRevert(claim("0x1234"), abi, "ECDSAInvalidSignatureLength", [2n]);
      await claim(row.signature);
    }));

  it("a claim that raises no total changes nothing and reads no signature", () =>
    evm.undone(async () => {
      const config = channelOf();
      await channels.send(relayer.address, "deposit", await depositArgs(config, 100n));
      const row = await claimOf(config, 40n);
      await channels.send(receiver.address, "claim", [[row]]);
      const unsigned = { ...row, signature: "0x" as const };
      const again = await channels.send(receiver.address, "claim", [[row, unsigned]]);
      expect(again.logs).toEqual([]);
      expect(await channels.read("channels", [channelIdOf(config)])).toEqual([100n, 40n]);
    }));

  it("a withdrawal ends at the second of its delay and not before, by either key of the payer", () =>
    evm.undone(async () => {
      const config = channelOf();
      await channels.send(relayer.address, "deposit", await depositArgs(config, 100n));
      await channels.send(payerAuthorizer.address, "initiateWithdraw", [config, 70n]);
      await channels.send(receiver.address, "claim", [[await claimOf(config, 60n)]]);
      await evm.chain.increaseTime(897n);
      const finalize = () => channels.send(payerAuthorizer.address, "finalizeWithdraw", [config]);
      await expectRevert(finalize(), abi, "WithdrawDelayNotElapsed");
      const before = await usd.read("balanceOf", [payer.address]);
      await finalize();
      // Claims made meanwhile stay with the receiver.
      expect((await usd.read("balanceOf", [payer.address])) - before).toBe(40n);
      expect(await channels.read("channels", [channelIdOf(config)])).toEqual([60n, 60n]);
    }));
});

describe("calls from within a call", () => {
  it("no function can be entered from a collector, nor from a token that calls who it pays", () =>
    evm.undone(async () => {
      const config = channelOf({
        payer: puppet.address,
        payerAuthorizer: payer.address,
        receiver: puppet.address,
        token: crooked.address,
      });
      const { deposits, functions } = await hostileCalls(config);
      await crooked.send(payer.address, "mint", [puppet.address, 10_000n]);
      await puppet.send(payer.address, "perform", [crooked.address, 0n, approve(puppet.address)]);
      await puppet.send(payer.address, "rehearse", [crooked.address, 0n, pull(900n, puppet.address), true]);
      await channels.send(relayer.address, "deposit", deposits);
      await channels.send(receiverAuthorizer.address, "claim", [[await claimOf(config, 10n, 10n, payer)]]);
      await channels.send(payer.address, "initiateWithdraw", [config, 5n]);
      await evm.chain.increaseTime(2_000n);
      await crooked.send(payer.address, "setHabit", [crookedTokenBehaviours.indexOf("CALLS_RECIPIENT")]);
      const entries = [
        () => channels.send(relayer.address, "settle", [puppet.address, crooked.address]),
        () => channels.send(receiverAuthorizer.address, "refund", [config, 3n]),
        () => channels.send(payer.address, "finalizeWithdraw", [config]),
      ];
      for (const [name, data] of functions) {
        for (const enter of entries) {
          await evm.undone(async () => {
            await puppet.send(payer.address, "rehearse", [channels.address, 0n, data, false]);
            await enter();
            expect([name, await puppet.read("succeeded", []), await puppet.read("returned", [])]).toEqual([
              name,
              false,
              REENTERED,
            ]);
          });
        }
        // As collector of a deposit.
        await evm.undone(async () => {
          await puppet.send(payer.address, "rehearse", [channels.address, 0n, data, true]);
          const outcome = channels.send(relayer.address, "deposit", deposits);
          await expectRevert(outcome, abi, "ReentrancyGuardReentrantCall");
        });
      }
    }));

  /** Every function that changes something, with arguments that would pass by themselves. */
  async function hostileCalls(config: ReturnType<typeof channelOf>) {
    const deposits = [config, 900n, puppet.address, "0x"] as const;
    const row = await claimOf(config, 20n, 20n, payer);
    const batch = await signDigest(receiverAuthorizer, claimBatchDigest([row]));
    const refund = await signDigest(receiverAuthorizer, refundDigest(channelIdOf(config), 0n, 7n));
    const calls = [
      encodeFunctionData({ abi, functionName: "deposit", args: deposits }),
      encodeFunctionData({ abi, functionName: "claim", args: [[row]] }),
      encodeFunctionData({ abi, functionName: "claimWithSignature", args: [[row], batch] }),
      encodeFunctionData({ abi, functionName: "settle", args: [puppet.address, crooked.address] }),
      encodeFunctionData({ abi, functionName: "refund", args: [config, 7n] }),
      encodeFunctionData({ abi, functionName: "refundWithSignature", args: [config, 7n, 0n, refund] }),
      encodeFunctionData({ abi, functionName: "initiateWithdraw", args: [config, 7n] }),
      encodeFunctionData({ abi, functionName: "finalizeWithdraw", args: [config] }),
    ];
    const inside = calls.map((call) =>
      encodeFunctionData({ abi, functionName: "multicall", args: [[call]] }),
    );
    const functions = [...calls, ...inside].map((data) => [data.slice(0, 10), data] as const);
    return { deposits, functions };
  }
});

/** The error of a call that was entered again. */
const REENTERED = "0x3ee5aeb5";

function pull(amount: bigint, from: Address = payer.address): Hex {
  const args = [from, channels.address, amount] as const;
  return encodeFunctionData({ abi: usdCoinAbi, functionName: "transferFrom", args });
}

function approve(spender: Address): Hex {
  return encodeFunctionData({ abi: usdCoinAbi, functionName: "approve", args: [spender, maxUint256] });
}

async function isReverted(outcome: Promise<unknown>): Promise<boolean> {
  return outcome.then(
    () => false,
    () => true,
  );
}
