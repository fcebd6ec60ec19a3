// Published code that tells what an account is: proxies and singletons of Safe and Coinbase, and entry points of ERC-4337.
import { dataOrigin } from "../../chain/chain-data.ts";
import { readDataFile } from "../../chain/data-file.ts";
import type { Hex } from "../../lib/hex.ts";
import { type ShapeType, shape } from "../../lib/json-shape.ts";

/**
 * All code that a proxy of Safe can run; the compiler's metadata follows. It returns its singleton, from its first storage
 * slot, for masterCopy(), and runs the singleton for everything else.
 */
export const SAFE_PROXY_CODES: readonly Hex[] = [
  // 1.1.1 to 1.4.1
  "0x608060405273ffffffffffffffffffffffffffffffffffffffff600054167fa619486e0000000000000000000000000000000000000000000000000000000060003514156050578060005260206000f35b3660008037600080366000845af43d6000803e60008114156070573d6000fd5b3d6000f3fe",
  // 1.5.0
  "0x608060405260005463a619486e60003560e01c14156024578060601b606c5260206060f35b3660008037600080366000845af43d6000803e806040573d6000fd5b3d6000f3fe",
];

const versions = shape.object({
  ...dataOrigin,
  data: shape.list(shape.object({ version: shape.text, address: shape.address }), ({ address }) => address),
});
const FILE = "accounts.json";
const { safeSingletons, coinbaseImplementations, entryPoints } = shape.object({
  safeSingletons: versions,
  coinbaseImplementations: versions,
  entryPoints: versions,
})(readDataFile(FILE), `chain-data/${FILE}: `);

export function findSafeVersion(singleton: Hex): string | null {
  return findVersion(safeSingletons, singleton);
}

/** All code of a Coinbase Smart Wallet: it runs the implementation that its ERC-1967 slot names. */
export const COINBASE_PROXY_CODE: Hex =
  "0x363d3d373d3d363d7f360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc545af43d6000803e6038573d6000fd5b3d6000f3";

/** Coinbase Smart Wallet, at the same addresses on every chain; their owners are listed by index. */
export const COINBASE_IMPLEMENTATIONS: readonly Hex[] = coinbaseImplementations.data.map(
  ({ address }) => address,
);

export function findEntryPointVersion(address: Hex): string | null {
  return findVersion(entryPoints, address);
}

function findVersion({ data }: ShapeType<typeof versions>, address: Hex): string | null {
  return data.find((known) => known.address === address)?.version ?? null;
}
