// Published code that tells what an account is: proxies and singletons of Safe and Coinbase, and entry points of ERC-4337.
import type { Hex } from "../../lib/hex.ts";

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

/** As published by Safe: the contract for Ethereum, the one with more events for other chains, each at two addresses. */
const SAFE_SINGLETONS: ReadonlyMap<Hex, string> = new Map([
  ["0x34cfac646f301356faa8b21e94227e3583fe3f5f", "1.1.1"],
  ["0x6851d6fdfafd08c0295c392436245e5bc78b0185", "1.2.0"],
  ["0xd9db270c1b5e3bd161e8c8503c55ceabee709552", "1.3.0"],
  ["0x69f4d1788e39c87893c980c06edf4b7f686e2938", "1.3.0"],
  ["0x3e5c63644e683549055b9be8653de26e0b4cd36e", "1.3.0+L2"],
  ["0xfb1bffc9d739b8d520daf37df666da4c687191ea", "1.3.0+L2"],
  ["0x41675c099f32341bf84bfc5382af534df5c7461a", "1.4.1"],
  ["0x29fcb43b46531bca003ddc8fcb67ffe91900c762", "1.4.1+L2"],
  ["0xff51a5898e281db6dfc7855790607438df2ca44b", "1.5.0"],
  ["0xedd160febbd92e350d4d398fb636302fccd67c7e", "1.5.0+L2"],
]);

export function findSafeVersion(singleton: Hex): string | null {
  return SAFE_SINGLETONS.get(singleton) ?? null;
}

/** All code of a Coinbase Smart Wallet: it runs the implementation that its ERC-1967 slot names. */
export const COINBASE_PROXY_CODE: Hex =
  "0x363d3d373d3d363d7f360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc545af43d6000803e6038573d6000fd5b3d6000f3";

/** Coinbase Smart Wallet 1 and 1.1, at the same addresses on every chain; their owners are listed by index. */
export const COINBASE_IMPLEMENTATIONS: readonly Hex[] = [
  "0x000100abaad02f1cfc8bbe32bd5a564817339e72",
  "0x00000110dcdedc9581cb5ecb8467282f2926534d",
];

/** The same address on every chain. */
const ENTRY_POINTS: ReadonlyMap<Hex, string> = new Map([
  ["0x5ff137d4b0fdcd49dca30c7cf57e578a026d2789", "0.6"],
  ["0x0000000071727de22e5e9d8baf0edac6f37da032", "0.7"],
  ["0x4337084d9e255ff0702461cf8895ce9e3b5ff108", "0.8"],
  ["0x433709009b8330fda32311df1c2afa402ed8d009", "0.9"],
]);

export function findEntryPointVersion(address: Hex): string | null {
  return ENTRY_POINTS.get(address) ?? null;
}
