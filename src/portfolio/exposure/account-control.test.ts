// Control over our own smart account: signer, guardian and session keys, found on a real chain and ended by its functions.
import { policyAccountAbi, policyAccountBytecode } from "@sextant/contracts/generated/policy-account";
import { policyModuleAbi, policyModuleBytecode } from "@sextant/contracts/generated/policy-module";
import { numberedAddress } from "@sextant/contracts/test/hostile-token-code";
import {
  type Abi,
  encodeDeployData,
  encodeFunctionData,
  getContractAddress,
  type Hex,
  numberToHex,
  pad,
} from "viem";
import { describe, expect, it } from "vitest";
import { fixedReturnCode } from "../../../tests/support/chain/fixed-return-contract.ts";
import { startPortfolioStage } from "../../../tests/support/portfolio/portfolio-stage.ts";
import { readAccount } from "../account/kind.ts";
import { readAccountControl } from "./account-control.ts";
import { SPENDERS, type Spender } from "./spenders.ts";

const stage = await startPortfolioStage();
const { chain, wallet: signer } = stage;
const node = await stage.node();
const { signal } = new AbortController();

async function send(to: Hex | null, data: Hex): Promise<void> {
  const transaction = { from: signer, ...(to === null ? {} : { to }), data, gas: numberToHex(8_000_000) };
  const hash = await chain.request("eth_sendTransaction", [transaction]);
  const receipt = (await chain.request("eth_getTransactionReceipt", [hash])) as { status: Hex };
  expect(receipt.status).toBe("0x1");
}

async function deploy(abi: Abi, bytecode: Hex, args: readonly unknown[]): Promise<Hex> {
  const nonce = BigInt((await chain.request("eth_getTransactionCount", [signer, "latest"])) as Hex);
  await send(null, encodeDeployData({ abi, bytecode, args }));
  return getContractAddress({ from: signer, nonce }).toLowerCase() as Hex;
}

async function read(wallet: Hex, byAddress: ReadonlyMap<Hex, Spender> = new Map()) {
  const at = await stage.port(node).pin(signal);
  const { account } = await readAccount({ at, wallet }, signal);
  return readAccountControl({ at, wallet }, account, { byAddress }, signal);
}

describe("a known delegate that holds further keys", () => {
  it("takes nothing without keys, and an unknown part with them or if it does not say", async () => {
    const [account, delegate] = [numberedAddress(0x7704), numberedAddress(0x7705)];
    await chain.setCode(account, `0xef0100${delegate.slice(2)}`);
    const readKeys = async (furtherKeys: Spender["furtherKeys"], keys: Readonly<Record<string, Hex>>) => {
      await chain.setCode(delegate, fixedReturnCode(keys));
      await chain.mine();
      const known = {
        name: "Wallet",
        protocol: "Test",
        kind: "delegate",
        source: "",
        deployments: [],
      } as const;
      const { permissions, warnings } = await read(
        account,
        new Map([[delegate, { ...known, ...(furtherKeys && { furtherKeys }) }]]),
      );
      return [permissions[0]?.controlsAll, warnings.some((warning) => warning.includes("further keys"))];
    };
    const count = (keys: Hex) => ({ "keyCount()": pad(keys) });
    expect(await readKeys(undefined, {})).toEqual([false, false]);
    expect(await readKeys("counted", count("0x0"))).toEqual([false, false]);
    expect(await readKeys("counted", count("0x2"))).toEqual([null, true]);
    expect(await readKeys("counted", {})).toEqual([null, true]);
    expect(await readKeys("unlisted", {})).toEqual([null, true]);
  });
});

describe("a listed delegate", () => {
  const [account, foreign] = [numberedAddress(0x7706), numberedAddress(0x7707)];
  const SLOT = "0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc";
  const delegates = SPENDERS.filter(({ kind }) => kind === "delegate");
  const onMainnet = new Map(
    delegates.flatMap((one) => one.deployments.map(([, address]) => [address.toLowerCase() as Hex, one])),
  );
  const readListed = async (delegate: Hex) => {
    await chain.setCode(delegate, fixedReturnCode({ "keyCount()": pad("0x0", { size: 32 }) }));
    await chain.setCode(account, `0xef0100${delegate.slice(2)}`);
    await chain.mine();
    return read(account, onMainnet);
  };

  it("puts nothing at risk only if nothing in the account's storage can let another key act", async () => {
    const controls = new Map<string, unknown>();
    for (const [delegate, { name }] of onMainnet) {
      const { permissions, warnings } = await readListed(delegate);
      const [{ controlsAll } = { controlsAll: true }] = permissions;
      controls.set(name, controlsAll);
      expect(warnings.some((warning) => warning.includes("further keys"))).toBe(controlsAll === null);
    }
    expect(Object.fromEntries(controls)).toEqual({
      "MetaMask Stateless DeleGator": false,
      Simple7702Account: false,
      "Uniswap Calibur": false,
      "Uniswap Calibur 1.1": false,
      "Coinbase EIP-7702 proxy": false,
      "Ambire account": null,
      "Alchemy Modular Account v2": null,
      "Trust Wallet account": null,
      "OKX Wallet account": null,
      "ZeroDev Kernel 3.3": null,
      "Biconomy Nexus": null,
    });
  });

  it("puts an unknown part at risk if it runs code that the account stores", async () => {
    const [coinbase] = delegates.filter(({ protocol }) => protocol === "Coinbase");
    const proxy = coinbase?.deployments[0]?.[1].toLowerCase() as Hex;
    const readStored = async (word: Hex) => {
      await chain.request("hardhat_setStorageAt", [account, SLOT, word]);
      const { permissions, warnings } = await readListed(proxy);
      return [
        permissions.map(({ kind, spender, controlsAll }) => [kind, spender, controlsAll]),
        warnings.some((warning) => warning.includes("own code is not known")),
      ];
    };
    const published = coinbase?.implementations?.[0] as Hex;
    expect(await readStored(pad("0x0", { size: 32 }))).toEqual([[["delegate", proxy, false]], false]);
    expect(await readStored(pad(published))).toEqual([[["delegate", proxy, null]], false]);
    const hostile = [
      [
        ["account-code", foreign, null],
        ["delegate", proxy, null],
      ],
      true,
    ];
    expect(await readStored(pad(foreign))).toEqual(hostile);
    // The code of a call is that of the last 20 bytes.
    expect(await readStored(`0x${"ff".repeat(12)}${foreign.slice(2)}`)).toEqual(hostile);
    await chain.request("hardhat_setStorageAt", [account, SLOT, pad("0x0", { size: 32 })]);
  });
});

describe("a contract that is not an account", () => {
  it("does not say what its owner can take", async () => {
    const contract = numberedAddress(0x0412);
    await chain.setCode(contract, fixedReturnCode({ "owner()": pad(signer, { size: 32 }) }));
    await chain.mine();
    const { permissions } = await read(contract);
    expect(permissions.map(({ kind, spender, controlsAll }) => [kind, spender, controlsAll])).toEqual([
      ["account-code", contract, null],
      ["owner", signer, null],
    ]);
  });
});

describe("a policy account", () => {
  it("shows its signer, guardian and live session keys, and each but the signer is ended by its call", async () => {
    const module = await deploy(policyModuleAbi, policyModuleBytecode, []);
    const account = await deploy(policyAccountAbi, policyAccountBytecode, [signer, module]);
    const call = (functionName: "setSessionKey" | "setGuardian", args: readonly unknown[]) =>
      send(account, encodeFunctionData({ abi: policyAccountAbi as Abi, functionName, args }));
    const { timestamp } = (await stage.port(node).pin(signal)).block;
    const [live, expired, off, guardian] = [1, 2, 3, 4].map((i) => numberedAddress(0x5e55 + i)) as [
      Hex,
      Hex,
      Hex,
      Hex,
    ];
    await call("setSessionKey", [live, timestamp + 10_000, true]);
    await call("setSessionKey", [expired, timestamp - 1, true]);
    await call("setSessionKey", [off, timestamp + 10_000, false]);
    await call("setGuardian", [guardian]);
    const { permissions, warnings } = await read(account);
    expect(permissions.map(({ kind, spender, expiresAt }) => [kind, spender, expiresAt])).toEqual([
      ["account-code", account, null],
      ["owner", signer, null],
      ["entry-point", expect.any(String), null],
      ["session-key", live, BigInt(timestamp + 10_000)],
      ["guardian", guardian, null],
    ]);
    expect(warnings.join()).toContain("session keys are found by logs since block");
    for (const { revoke } of permissions) if (revoke?.type === "call") await send(revoke.to, revoke.data);
    expect((await read(account)).permissions.map(({ kind }) => kind)).toEqual([
      "account-code",
      "owner",
      "entry-point",
    ]);
  });

  it("lists no controller for a wallet without code, and sends no request for it", async () => {
    const before = node.requests.length;
    const at = await stage.port(node).pin(signal);
    const { account } = await readAccount({ at, wallet: signer }, signal);
    expect(
      await readAccountControl({ at, wallet: signer }, account, { byAddress: new Map() }, signal),
    ).toEqual({
      permissions: [],
      warnings: [],
      isComplete: true,
    });
    expect(node.requests.length - before).toBe(2);
  });
});
