// The local accounts are the well-known ones.
import { mnemonicToAccount, privateKeyToAccount } from "viem/accounts";
import { describe, expect, it } from "vitest";
import {
  LOCAL_ACCOUNT_NAMES,
  LOCAL_MNEMONIC,
  localAccount,
  namedAccounts,
  PREFUNDED_ACCOUNTS,
  prefundedAccounts,
} from "./accounts.ts";

describe("local accounts", () => {
  it("derives the addresses that every local Ethereum tool has", () => {
    expect(namedAccounts().owner.address).toBe("0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266");
    expect(namedAccounts().agent.address).toBe("0x70997970C51812dc3A010C7d01b50e0d17dc79C8");
    expect(namedAccounts().owner.privateKey).toBe(
      "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80",
    );
  });

  it("has a distinct account for every name, each with the key to its address", () => {
    const accounts = LOCAL_ACCOUNT_NAMES.map((name) => namedAccounts()[name]);
    expect(new Set(accounts.map(({ address }) => address)).size).toBe(LOCAL_ACCOUNT_NAMES.length);
    for (const { address, privateKey } of accounts)
      expect(privateKeyToAccount(privateKey).address).toBe(address);
  });

  it.each([0, 31, 8_000, 2 ** 31 - 1])("derives account %i as viem does", (addressIndex) => {
    const { address, privateKey } = localAccount(addressIndex);
    expect(mnemonicToAccount(LOCAL_MNEMONIC, { addressIndex }).address).toBe(address);
    expect(privateKeyToAccount(privateKey).address).toBe(address);
  });

  it("prefunds the named accounts and twenty-four more", () => {
    expect(prefundedAccounts()).toHaveLength(PREFUNDED_ACCOUNTS);
    expect(prefundedAccounts()[0]).toBe(namedAccounts().owner);
    expect(PREFUNDED_ACCOUNTS - LOCAL_ACCOUNT_NAMES.length).toBe(24);
  });

  it.each([-1, 1.5, Number.NaN, 2 ** 31])("rejects index %s", (index) => {
    expect(() => localAccount(index)).toThrow(RangeError);
  });
});
