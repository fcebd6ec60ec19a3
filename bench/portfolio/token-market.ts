// A local chain with a market, a wallet that holds a handful of tokens, and thousands of listed tokens that it does not.

import { LOCAL_GENESIS_CODE } from "@sextant/contracts/deploy/deploy";
import { awaitReceipt } from "@sextant/contracts/deploy/transaction";
import { plainTokenAbi, plainTokenBytecode } from "@sextant/contracts/generated/plain-token";
import { type LocalChain, startLocalChain } from "@sextant/local-chain/local-chain";
import { deployFundedMarket } from "@sextant/simulator/fund-market";
import { encodeDeployData, encodeFunctionData, type Hex, toHex } from "viem";
import type { ChainPriceFeeds } from "../../src/chain/price-feeds/price-feeds.ts";
import type { ListedToken } from "../../src/portfolio/types.ts";

// Token lists of any length: those that the wallet holds come first, then as many as are wanted that it does not.

export function buildTokenList(held: readonly ListedToken[], length: number): readonly ListedToken[] {
  const others = Math.max(0, length - held.length);
  const rest = Array.from({ length: others }, (_, i) => buildListedToken(addressOf(i), `E${i}`, 18));
  return [...held.slice(0, length), ...rest];
}

export function buildListedToken(contract: Hex, symbol: string, decimals: number): ListedToken {
  return { contract, symbol, name: `${symbol} token`, decimals, logo: null };
}

/** Spread over all addresses, as real ones are. */
function addressOf(index: number): Hex {
  const mixed = (BigInt(index + 1) * 0x9e3779b97f4a7c15f39cc0605cedc8341082276bn) & ((1n << 160n) - 1n);
  return toHex(mixed, { size: 20 });
}

/** Goes from process to process as JSON. */
export type TokenMarket = {
  readonly chainId: number;
  /** Listed ones only. */
  readonly held: readonly ListedToken[];
  readonly stablecoin: Hex;
  readonly feeds: ChainPriceFeeds;
  readonly wallet: Hex;
  /** Each with dollars and the plain tokens. */
  readonly otherWallets: readonly Hex[];
};

// With money, wrapped coins and a vault's shares there are ten: as many as the shortest list has.
const HELD_PLAIN = 7;
// On no list: found by the transfer that brought it.
const HELD_UNLISTED = 1;
// No price is published after the start.
const HEARTBEAT_SECONDS = 10 * 365 * 86_400;
const UNITS = 123_456_789_012_345_678n;
// Addresses without a key, far from those of any contract.
const OTHER_WALLETS = 0xc01dc01dn << 128n;

export async function openTokenMarket(
  chainId: number,
  listed: number,
  otherWallets = 0,
  heldPlain = HELD_PLAIN,
): Promise<{ chain: LocalChain; market: TokenMarket }> {
  const chain = await startLocalChain({ chainId, code: LOCAL_GENESIS_CODE, reorgDepthMax: 0 });
  const { local } = await deployFundedMarket(chain, `bench ${chainId}`);
  const at = (name: keyof typeof local) => local[name].toLowerCase() as Hex;
  const wallet = chain.accounts.payer.address.toLowerCase() as Hex;
  const plain: Hex[] = [];
  for (let i = 0; i < heldPlain + HELD_UNLISTED; i += 1) plain.push(await mintToken(chain, i, wallet));
  const others = Array.from({ length: otherWallets }, (_, i) =>
    toHex(OTHER_WALLETS + BigInt(i), { size: 20 }),
  );
  for (const other of others)
    for (const contract of [at("UsdCoin"), ...plain]) await mint(chain, contract, other, UNITS);
  const held = [
    buildListedToken(at("UsdCoin"), "USDC", 6),
    buildListedToken(at("WrappedEther"), "WETH", 18),
    buildListedToken(at("Vault4626"), "vUSDC", 6),
    ...plain.slice(0, heldPlain).map((contract, i) => buildListedToken(contract, `T${i}`, 18)),
  ];
  const code = (await chain.request("eth_getCode", [plain[0], "latest"])) as Hex;
  for (const { contract } of buildTokenList(held, listed).slice(held.length))
    await chain.setCode(contract, code);
  await chain.mine();
  const feedOf = (feed: Hex) => ({ feed, heartbeatSeconds: HEARTBEAT_SECONDS });
  const ether = feedOf(at("EthUsdFeed"));
  const tokens = { [at("WrappedEther")]: ether, [at("UsdCoin")]: feedOf(at("UsdcUsdFeed")) };
  const feeds = { native: ether, sequencer: null, tokens };
  const market = { chainId, held, stablecoin: at("UsdCoin"), feeds, wallet, otherWallets: others };
  return { chain, market };
}

async function mintToken(chain: LocalChain, index: number, to: Hex): Promise<Hex> {
  const args = [`Token ${index}`, `T${index}`, 18] as const;
  const data = encodeDeployData({ abi: plainTokenAbi, bytecode: plainTokenBytecode, args });
  const { contractAddress } = await sendAsOwner(chain, { data });
  if (!contractAddress) throw new Error("a token was not deployed");
  await mint(chain, contractAddress, to, UNITS * BigInt(index + 1));
  return contractAddress.toLowerCase() as Hex;
}

/** Dollars are minted by the same call as plain tokens. */
async function mint(chain: LocalChain, token: Hex, to: Hex, units: bigint): Promise<void> {
  const data = encodeFunctionData({ abi: plainTokenAbi, functionName: "mint", args: [to, units] });
  const { status } = await sendAsOwner(chain, { to: token, data });
  if (status !== "0x1") throw new Error(`${token} was not minted`);
}

async function sendAsOwner({ request, accounts }: LocalChain, call: object) {
  const sent = { from: accounts.owner.address, ...call };
  return awaitReceipt(request, (await request("eth_sendTransaction", [sent])) as Hex);
}
