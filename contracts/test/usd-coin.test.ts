// The dollar token: money by signature, once, in time, by whom it names, and only under its own domain.
import {
  domainSeparator,
  getAddress,
  type Hex,
  keccak256,
  pad,
  slice,
  toFunctionSelector,
  zeroAddress,
  zeroHash,
} from "viem";
import { beforeEach, describe, expect, it } from "vitest";
import { usdCoinAbi as abi, usdCoinBytecode } from "../generated/usd-coin.ts";
import { actorBytecode, smartWalletAbi } from "./actor-contracts.ts";
import { type Contract, decodeEvents, expectRevert, startEvm } from "./evm.ts";
import {
  type AuthorizationKind,
  authorizationArgs,
  highS,
  signAuthorization,
  signCancellation,
  type TestAuthorization,
  usdDomain,
  vrs,
} from "./usd-authorizations.ts";

const evm = await startEvm();
const { owner, payer, merchant, solver } = evm.chain.accounts;
const relayer = solver.address;
const FAR = 2n ** 40n;
const FUNDS = 1_000n;
let usd: Contract<typeof abi>;
let nonces = 0;

beforeEach(async () => {
  usd = await evm.deploy(abi, usdCoinBytecode, []);
  await usd.send(owner.address, "mint", [payer.address, FUNDS]);
});

function authorization(changes: Partial<TestAuthorization> = {}): TestAuthorization {
  nonces += 1;
  return {
    from: payer.address,
    to: merchant.address,
    value: 10n,
    validAfter: 0n,
    validBefore: FAR,
    nonce: keccak256(`0x${nonces.toString(16).padStart(8, "0")}`),
    ...changes,
  };
}

const signFor = (
  one: TestAuthorization,
  kind: AuthorizationKind = "TransferWithAuthorization",
  key = payer,
) => signAuthorization(key, usdDomain(usd.address), kind, one);
const transfer = (one: TestAuthorization, signature: Hex, from = relayer) =>
  usd.call(from, "transferWithAuthorization", [...authorizationArgs(one), signature]);
const balanceOf = (address: Hex) => usd.read("balanceOf", [address]);

describe("the dollar token", () => {
  it("the dollar token looks like the real one", async () => {
    expect(await usd.read("name", [])).toBe("USD Coin");
    expect(await usd.read("symbol", [])).toBe("USDC");
    expect(await usd.read("decimals", [])).toBe(6);
    expect(await usd.read("version", [])).toBe("2");
    expect(await usd.read("totalSupply", [])).toBe(FUNDS);
    expect(await usd.read("DOMAIN_SEPARATOR", [])).toBe(domainSeparator({ domain: usdDomain(usd.address) }));
    expect(await usd.read("eip712Domain", [])).toEqual([
      "0x0f",
      "USD Coin",
      "2",
      31_337n,
      getAddress(usd.address),
      zeroHash,
      [],
    ]);
    // As EIP-3009 and EIP-2612 print them.
    expect(await usd.read("TRANSFER_WITH_AUTHORIZATION_TYPEHASH", [])).toBe(
      "0x7c7c6cdb67a18743f49ec6fa9b35f50d52ed05cbed4cc592e13b44501c1a2267",
    );
    expect(await usd.read("RECEIVE_WITH_AUTHORIZATION_TYPEHASH", [])).toBe(
      "0xd099cc98ef71107a616c4f0f941f04c322d8e254fe26b3c6668db87aae413de8",
    );
    expect(await usd.read("CANCEL_AUTHORIZATION_TYPEHASH", [])).toBe(
      "0x158b0a9edf7a828aad02f63cd515c68ef2f50ba807396f6d12842833a1597429",
    );
    expect(await usd.read("PERMIT_TYPEHASH", [])).toBe(
      "0x6e71edae12b1b97f4d1f60370fef10105fa2faae0126114a169c64845d6126c9",
    );
    const selectors = abi.flatMap((item) =>
      item.type === "function" && item.name.endsWith("WithAuthorization") ? [toFunctionSelector(item)] : [],
    );
    expect(selectors.sort()).toEqual(["0x88b7ab63", "0xcf092995", "0xe3ee160e", "0xef55bec6"]);
  });

  it("only minters that the owner names mint the dollar token", async () => {
    const mint = [payer.address, 5n] as const;
    await expectRevert(usd.call(merchant.address, "mint", mint), abi, "NotMinter", [merchant.address]);
    const named = await usd.send(owner.address, "setMinter", [merchant.address, true]);
    expect(decodeEvents(named, abi)).toEqual([
      { eventName: "MinterUpdated", args: { account: merchant.address, allowed: true } },
    ]);
    expect(await usd.read("isMinter", [merchant.address])).toBe(true);
    const minted = await usd.send(merchant.address, "mint", mint);
    expect(decodeEvents(minted, abi)).toEqual([
      { eventName: "Transfer", args: { from: zeroAddress, to: payer.address, value: 5n } },
    ]);
    await usd.send(owner.address, "setMinter", [merchant.address, false]);
    await expectRevert(usd.call(merchant.address, "mint", mint), abi, "NotMinter", [merchant.address]);
    const byMinter = usd.call(merchant.address, "setMinter", [merchant.address, true]);
    await expectRevert(byMinter, abi, "OwnableUnauthorizedAccount", [merchant.address]);
  });

  it("the dollar token transfers and approves like an ordinary token", async () => {
    await usd.send(payer.address, "transfer", [merchant.address, 4n]);
    await usd.send(payer.address, "approve", [relayer, 6n]);
    await usd.send(relayer, "transferFrom", [payer.address, merchant.address, 6n]);
    expect(await balanceOf(merchant.address)).toBe(10n);
    const more = usd.call(relayer, "transferFrom", [payer.address, merchant.address, 1n]);
    await expectRevert(more, abi, "ERC20InsufficientAllowance", [relayer, 0n, 1n]);
  });
});

describe.each(["bytes", "v, r, s"] as const)("an authorization with its signature as %s", (form) => {
  const withSignature = (one: TestAuthorization, signature: Hex) =>
    form === "bytes"
      ? ([...authorizationArgs(one), signature] as const)
      : ([...authorizationArgs(one), ...vrs(signature)] as const);

  it("an authorization moves the money once, for any relayer", async () => {
    const one = authorization();
    const args = withSignature(one, await signFor(one));
    expect(await usd.read("authorizationState", [payer.address, one.nonce])).toBe(false);
    const receipt = await usd.send(relayer, "transferWithAuthorization", args);
    expect(decodeEvents(receipt, abi)).toEqual([
      { eventName: "AuthorizationUsed", args: { authorizer: payer.address, nonce: one.nonce } },
      { eventName: "Transfer", args: { from: payer.address, to: merchant.address, value: 10n } },
    ]);
    expect(await usd.read("authorizationState", [payer.address, one.nonce])).toBe(true);
    expect(await usd.read("authorizationState", [merchant.address, one.nonce])).toBe(false);
    expect(await balanceOf(merchant.address)).toBe(10n);
    const used = [payer.address, one.nonce] as const;
    const replay = usd.call(merchant.address, "transferWithAuthorization", args);
    await expectRevert(replay, abi, "AuthorizationUsedOrCanceled", used);
  });

  it("an authorization to receive works for the payee only", async () => {
    const one = authorization();
    const args = withSignature(one, await signFor(one, "ReceiveWithAuthorization"));
    const stolen = usd.call(relayer, "receiveWithAuthorization", args);
    await expectRevert(stolen, abi, "CallerNotPayee", [relayer, merchant.address]);
    await expectRevert(usd.call(relayer, "transferWithAuthorization", args), abi, "InvalidSignature", [
      payer.address,
    ]);
    const receipt = await usd.send(merchant.address, "receiveWithAuthorization", args);
    expect(decodeEvents(receipt, abi)).toEqual([
      { eventName: "AuthorizationUsed", args: { authorizer: payer.address, nonce: one.nonce } },
      { eventName: "Transfer", args: { from: payer.address, to: merchant.address, value: 10n } },
    ]);
    const replay = usd.call(merchant.address, "receiveWithAuthorization", args);
    await expectRevert(replay, abi, "AuthorizationUsedOrCanceled", [payer.address, one.nonce]);
    const sent = authorization();
    const wrongKind = withSignature(sent, await signFor(sent));
    const received = usd.call(merchant.address, "receiveWithAuthorization", wrongKind);
    await expectRevert(received, abi, "InvalidSignature", [payer.address]);
  });

  it("an authorization can be cancelled before it is used, not after", async () => {
    const one = authorization();
    const signature = await signFor(one);
    const cancellation = await signCancellation(payer, usdDomain(usd.address), payer.address, one.nonce);
    const cancelArgs =
      form === "bytes"
        ? ([payer.address, one.nonce, cancellation] as const)
        : ([payer.address, one.nonce, ...vrs(cancellation)] as const);
    const forged = await signCancellation(merchant, usdDomain(usd.address), payer.address, one.nonce);
    const byOther = usd.call(relayer, "cancelAuthorization", [payer.address, one.nonce, forged]);
    await expectRevert(byOther, abi, "InvalidSignature", [payer.address]);
    const used = [payer.address, one.nonce] as const;
    await evm.undone(async () => {
      await usd.send(relayer, "transferWithAuthorization", withSignature(one, signature));
      const late = usd.call(relayer, "cancelAuthorization", cancelArgs);
      await expectRevert(late, abi, "AuthorizationUsedOrCanceled", used);
    });
    const receipt = await usd.send(relayer, "cancelAuthorization", cancelArgs);
    expect(decodeEvents(receipt, abi)).toEqual([
      { eventName: "AuthorizationCanceled", args: { authorizer: payer.address, nonce: one.nonce } },
    ]);
    // The state alone does not distinguish a cancelled authorization from a used one; the events do.
    expect(await usd.read("authorizationState", used)).toBe(true);
    expect(await balanceOf(merchant.address)).toBe(0n);
    const dead = usd.call(relayer, "transferWithAuthorization", withSignature(one, signature));
    await expectRevert(dead, abi, "AuthorizationUsedOrCanceled", used);
    await expectRevert(
      usd.call(relayer, "cancelAuthorization", cancelArgs),
      abi,
      "AuthorizationUsedOrCanceled",
      used,
    );
  });

  it("rejects an authorization whose signature has a high s or another v", async () => {
    const one = authorization();
    const good = await signFor(one);
    const zeroV: Hex = `${slice(good, 0, 64)}00`;
    for (const bad of [highS(good), zeroV]) {
      const call = usd.call(relayer, "transferWithAuthorization", withSignature(one, bad));
      await expectRevert(call, abi, "InvalidSignature", [payer.address]);
    }
  });
});

describe("an authorization", () => {
  it("an authorization is valid strictly after validAfter and strictly before validBefore", async () => {
    const now = await evm.now();
    const [validAfter, validBefore] = [now + 100n, now + 200n];
    const one = authorization({ validAfter, validBefore });
    const signature = await signFor(one);
    const at = async (seconds: bigint) => {
      await evm.chain.setNextBlockTimestamp(seconds);
      return transfer(one, signature);
    };
    await expectRevert(at(validAfter - 1n), abi, "AuthorizationNotYetValid", [validAfter]);
    await expectRevert(at(validAfter), abi, "AuthorizationNotYetValid", [validAfter]);
    await at(validAfter + 1n);
    await at(validBefore - 1n);
    await expectRevert(at(validBefore), abi, "AuthorizationExpired", [validBefore]);
    await expectRevert(at(validBefore + 1n), abi, "AuthorizationExpired", [validBefore]);
    const never = authorization({ validAfter: now + 100n, validBefore: now + 101n });
    const neverSigned = await signFor(never);
    await evm.chain.setNextBlockTimestamp(now + 100n);
    await expectRevert(transfer(never, neverSigned), abi, "AuthorizationNotYetValid", [now + 100n]);
    await evm.chain.setNextBlockTimestamp(now + 101n);
    await expectRevert(transfer(never, neverSigned), abi, "AuthorizationExpired", [now + 101n]);
  });

  it.each<[string, (one: TestAuthorization) => TestAuthorization]>([
    ["to", (one) => ({ ...one, to: solver.address })],
    ["value", (one) => ({ ...one, value: one.value + 1n })],
    ["validAfter", (one) => ({ ...one, validAfter: one.validAfter + 1n })],
    ["validBefore", (one) => ({ ...one, validBefore: one.validBefore + 1n })],
    ["nonce", (one) => ({ ...one, nonce: zeroHash })],
  ])("an authorization is bound to its %s", async (_, change) => {
    const one = authorization();
    const signature = await signFor(one);
    await expectRevert(transfer(change(one), signature), abi, "InvalidSignature", [payer.address]);
  });

  it("an authorization is bound to its payer", async () => {
    const one = authorization();
    const other = { ...one, from: merchant.address };
    await expectRevert(transfer(other, await signFor(one)), abi, "InvalidSignature", [merchant.address]);
    const forged = transfer(one, await signFor(one, "TransferWithAuthorization", merchant));
    await expectRevert(forged, abi, "InvalidSignature", [payer.address]);
    // A signature that recovers to the zero address must not move its balance.
    const fromZero = { ...one, from: zeroAddress };
    await expectRevert(transfer(fromZero, `0x${"00".repeat(65)}`), abi, "InvalidSignature", [zeroAddress]);
  });

  it.each([
    ["name", { name: "USDC" }],
    ["version", { version: "1" }],
    ["chain", { chainId: 84_532 }],
    ["contract", { verifyingContract: pad("0x01", { size: 20 }) }],
  ] as const)("an authorization is bound to the %s of its domain", async (_, changes) => {
    const one = authorization();
    const domain = usdDomain(usd.address, changes);
    const signature = await signAuthorization(payer, domain, "TransferWithAuthorization", one);
    await expectRevert(transfer(one, signature), abi, "InvalidSignature", [payer.address]);
  });

  it("rejects an authorization whose signature has another length", async () => {
    const one = authorization();
    const good = await signFor(one);
    for (const bad of ["0x", slice(good, 0, 64), `${good}00`] as const) {
      await expectRevert(transfer(one, bad), abi, "InvalidSignature", [payer.address]);
    }
  });

  it("a transfer that fails does not use up its authorization", async () => {
    const one = authorization({ value: FUNDS + 1n });
    const signature = await signFor(one);
    const poor = usd.send(relayer, "transferWithAuthorization", [...authorizationArgs(one), signature]);
    await expectRevert(poor, abi, "ERC20InsufficientBalance", [payer.address, FUNDS, FUNDS + 1n]);
    expect(await usd.read("authorizationState", [payer.address, one.nonce])).toBe(false);
    await usd.send(owner.address, "mint", [payer.address, 1n]);
    await transfer(one, signature);
    const toZeroAddress = authorization({ to: zeroAddress });
    await expectRevert(transfer(toZeroAddress, await signFor(toZeroAddress)), abi, "ERC20InvalidReceiver", [
      zeroAddress,
    ]);
  });

  it("a contract account verifies its own authorization (ERC-1271)", async () => {
    const wallet = await evm.deploy(smartWalletAbi, actorBytecode("SmartWallet"), [payer.address]);
    const walletAddress = getAddress(wallet.address);
    await usd.send(owner.address, "mint", [wallet.address, FUNDS]);
    const one = authorization({ from: wallet.address });
    const bytes = [...authorizationArgs(one), await signFor(one)] as const;
    const receipt = await usd.send(relayer, "transferWithAuthorization", bytes);
    expect(decodeEvents(receipt, abi)).toEqual([
      { eventName: "AuthorizationUsed", args: { authorizer: walletAddress, nonce: one.nonce } },
      { eventName: "Transfer", args: { from: walletAddress, to: merchant.address, value: 10n } },
    ]);
    const rejected = authorization({ from: wallet.address });
    const outsider = await signFor(rejected, "TransferWithAuthorization", merchant);
    await expectRevert(transfer(rejected, outsider), abi, "InvalidSignature", [walletAddress]);
    const received = authorization({ from: wallet.address });
    const signature = await signFor(received, "ReceiveWithAuthorization");
    await usd.send(merchant.address, "receiveWithAuthorization", [...authorizationArgs(received), signature]);
    const cancelled = authorization({ from: wallet.address });
    const cancel = await signCancellation(payer, usdDomain(usd.address), wallet.address, cancelled.nonce);
    await usd.send(relayer, "cancelAuthorization", [wallet.address, cancelled.nonce, cancel]);
    expect(await usd.read("authorizationState", [wallet.address, cancelled.nonce])).toBe(true);
    // A contract that knows nothing of ERC-1271 can sign nothing.
    const mute = authorization({ from: usd.address });
    await expectRevert(transfer(mute, await signFor(mute)), abi, "InvalidSignature", [
      getAddress(usd.address),
    ]);
  });
});
