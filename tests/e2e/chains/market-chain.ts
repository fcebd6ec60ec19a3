// A chain that stands in for Base: what its people hold is known, and the portfolio service has to find it.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { LOCAL_GENESIS_CODE } from "@sextant/contracts/deploy/deploy";
import { usdCoinAbi } from "@sextant/contracts/generated/usd-coin";
import { type LocalChain, startLocalChain } from "@sextant/local-chain/local-chain";
import { deployFundedMarket } from "@sextant/simulator/fund-market";
import { createPublicClient, custom, type Hex } from "viem";

/** The holdings of a wallet by token: null is the chain's own coin. */
type Holdings = ReadonlyMap<string | null, bigint>;

export type MarketChain = {
  readonly chain: LocalChain;
  readonly chainId: number;
  /** Wallets with balances. */
  readonly wallets: readonly Hex[];
  /** A token list of the market's money, as an operator would give it. */
  readonly tokenList: string;
  /** As the contracts report it. */
  holdings(wallet: Hex): Promise<Holdings>;
};

const BASE = 8453;

export async function openMarketChain(folder: string): Promise<MarketChain> {
  const chain = await startLocalChain({ chainId: BASE, code: LOCAL_GENESIS_CODE, reorgDepthMax: 0 });
  try {
    const { local } = await deployFundedMarket(chain, "base");
    const tokens = [
      { address: local.UsdCoin, symbol: "USDC", name: "USD Coin", decimals: 6 },
      { address: local.WrappedEther, symbol: "WETH", name: "Wrapped Ether", decimals: 18 },
    ];
    const tokenList = join(folder, "market-tokens.json");
    await writeFile(
      tokenList,
      JSON.stringify({ tokens: tokens.map((each) => ({ chainId: BASE, ...each })) }),
    );
    const client = createPublicClient({
      transport: custom(
        { request: ({ method, params }) => chain.request(method, params) },
        { retryCount: 0 },
      ),
    });
    const { payer, agent, solver, merchant } = chain.accounts;
    return {
      chain,
      chainId: BASE,
      wallets: [payer, agent, solver, merchant].map(({ address }) => address.toLowerCase() as Hex),
      tokenList,
      async holdings(wallet) {
        const held = new Map<string | null, bigint>([[null, await client.getBalance({ address: wallet })]]);
        for (const { address } of tokens) {
          const call = { address, abi: usdCoinAbi, functionName: "balanceOf", args: [wallet] } as const;
          const amount = await client.readContract(call);
          if (amount > 0n) held.set(address.toLowerCase(), amount);
        }
        return held;
      },
    };
  } catch (error) {
    await chain.stop();
    throw error;
  }
}
