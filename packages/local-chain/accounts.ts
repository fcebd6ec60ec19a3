// Accounts of the local chain: well-known keys of one public mnemonic, worthless anywhere else.
import { createECDH, createHmac, pbkdf2Sync } from "node:crypto";
import { type Address, bytesToHex, type Hex, numberToHex } from "viem";
import { HDKey, publicKeyToAddress } from "viem/accounts";

/** The mnemonic every local Ethereum tool uses. Its keys are public: never fund them on a real network. */
export const LOCAL_MNEMONIC = "test test test test test test test test test test test junk";

/** Roles of the local accounts; a name's position is its address index in the mnemonic. */
export const LOCAL_ACCOUNT_NAMES = [
  "owner",
  "agent",
  "solver",
  "merchant",
  "facilitator",
  "attestor",
  "guardian",
  "payer",
] as const;

export type LocalAccountName = (typeof LOCAL_ACCOUNT_NAMES)[number];
export type LocalAccount = {
  readonly index: number;
  readonly address: Address;
  readonly privateKey: Hex;
};
export type LocalAccounts = Readonly<Record<LocalAccountName, LocalAccount>>;

/** Indexes 0 to 31 own ETH from genesis: the eight names and twenty-four more; deriving more would slow the start. */
export const PREFUNDED_ACCOUNTS = 32;

/** Non-hardened child indexes end here (BIP-32). */
const ACCOUNT_INDEX_MAX = 2 ** 31 - 1;

const derived = new Map<number, LocalAccount>();
/** The node of the path above the accounts: its key, and what their keys are derived from. */
type Branch = { readonly privateKey: bigint; readonly publicKey: Uint8Array; readonly chainCode: Uint8Array };
let branch: Branch | undefined;

/** The order of the curve secp256k1. */
const GROUP_ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

/** Account `index` at m/44'/60'/0'/0/index; from PREFUNDED_ACCOUNTS on it starts empty and needs a transfer. */
export function localAccount(index: number): LocalAccount {
  if (!Number.isInteger(index) || index < 0 || index > ACCOUNT_INDEX_MAX) {
    throw new RangeError(`Account index must be an integer from 0 to ${ACCOUNT_INDEX_MAX}, not ${index}`);
  }
  const known = derived.get(index);
  if (known) return known;
  branch ??= deriveBranch();
  const privateKey = deriveKey(branch, index);
  const account = Object.freeze({ index, address: addressOf(privateKey), privateKey });
  derived.set(index, account);
  return account;
}

/** BIP-39 done natively: stretching the mnemonic in JavaScript would be a third of the chain's start time. */
function deriveBranch(): Branch {
  const seed = pbkdf2Sync(LOCAL_MNEMONIC, "mnemonic", 2048, 64, "sha512");
  const { privateKey, publicKey, chainCode } = HDKey.fromMasterSeed(seed).derive("m/44'/60'/0'/0");
  if (!privateKey || !publicKey || !chainCode) throw new Error("The mnemonic has no keys");
  return { privateKey: BigInt(bytesToHex(privateKey)), publicKey, chainCode };
}

/** A child of BIP-32 that is not hardened. The library multiplies on the curve for it, which a private key does not need. */
function deriveKey({ privateKey, publicKey, chainCode }: Branch, index: number): Hex {
  const place = Buffer.alloc(4);
  place.writeUInt32BE(index);
  const digest = createHmac("sha512", chainCode).update(publicKey).update(place).digest();
  const tweak = BigInt(bytesToHex(digest.subarray(0, 32)));
  return numberToHex((tweak + privateKey) % GROUP_ORDER, { size: 32 });
}

/** Uses OpenSSL, which is ten times as fast as a curve in JavaScript: tests derive thousands of addresses. */
function addressOf(privateKey: Hex): Address {
  const curve = createECDH("secp256k1");
  curve.setPrivateKey(privateKey.slice(2), "hex");
  return publicKeyToAddress(bytesToHex(curve.getPublicKey()));
}

/** The named accounts, in the order of LOCAL_ACCOUNT_NAMES. */
export function namedAccounts(): LocalAccounts {
  const entries = LOCAL_ACCOUNT_NAMES.map((name, index) => [name, localAccount(index)] as const);
  return Object.freeze(Object.fromEntries(entries) as Record<LocalAccountName, LocalAccount>);
}

/** Every account that owns ETH at genesis. */
export function prefundedAccounts(): readonly LocalAccount[] {
  return Array.from({ length: PREFUNDED_ACCOUNTS }, (_, index) => localAccount(index));
}
