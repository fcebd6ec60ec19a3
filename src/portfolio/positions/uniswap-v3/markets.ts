// Deployments of Uniswap v3 and its forks by chain id: liquidity in a price range, owned as an NFT.
//
// Sources, read on 2026-11-16; a test computes addresses of well-known pools from them:
// - Uniswap: Uniswap/sdks, sdk-core addresses, 2026-08-07.
// - PancakeSwap: pancakeswap/pancake-frontend, contracts.ts (manager) and v3-sdk (deployer, code hash); MasterChef v3 by
//   the table in okx/plugin-store, skills/pancakeswap-clmm-plugin (3aafa4c), which other projects' tables agree with.
// - SushiSwap: sushi-labs/sushi, features/sushiswap-v3.ts, 2026-08-07.
// - Aerodrome, Velodrome: the deployment tables of aerodrome-finance/slipstream and velodrome-finance/slipstream
//   (2026-05-01), and the voters in the READMEs of their contracts repositories. The two younger generations on Base are
//   from a copy of that README; no pool of the second was at hand to compute.
import type { Hex } from "../../../lib/hex.ts";

export type LiquidityNftMarket = {
  /** `protocol` of its positions. */
  readonly protocol: string;
  readonly name: string;
  /** The NonfungiblePositionManager, whose NFTs are the positions. */
  readonly manager: Hex;
  /** The contract that creates the pools: the factory, or its deployer. */
  readonly poolDeployer: Hex;
  /** Hash of the pools' creation code, from which a pool's address is computed. */
  readonly poolCodeHash: Hex;
  /** Slipstream distinguishes pools by tick spacing instead of fee, and its pools return other words. */
  readonly shape: "uniswap" | "slipstream";
  /** A farm that lists the NFTs staked in it by owner, as the manager does. Staked NFTs still earn fees. */
  readonly farm?: Hex;
  /** Says which contracts are gauges. NFTs staked in a gauge earn rewards instead of fees. */
  readonly voter?: Hex;
};

const UNISWAP = { protocol: "uniswap-v3", name: "Uniswap v3", shape: "uniswap" } as const;
const UNISWAP_CODE_HASH = "0xe34f199b19b2b4f47f68442619d555527d244f78a3297ea89325f843f87b8b54";

const UNISWAP_ORIGINAL: LiquidityNftMarket = {
  ...UNISWAP,
  manager: "0xc36442b4a4522e871399cd717abdd847ab11fe88",
  poolDeployer: "0x1f98431c8ad98523631ae4a59f267346ea31f984",
  poolCodeHash: UNISWAP_CODE_HASH,
};

const UNISWAP_BASE: LiquidityNftMarket = {
  ...UNISWAP,
  manager: "0x03a520b32c04bf3beef7beb72e919cf822ed34f1",
  poolDeployer: "0x33128a8fc17869897dce68ed026d694621f6fdfd",
  poolCodeHash: UNISWAP_CODE_HASH,
};

function pancakeSwap(farm: Hex): LiquidityNftMarket {
  return {
    ...{ protocol: "pancakeswap-v3", name: "PancakeSwap v3", shape: "uniswap", farm },
    manager: "0x46a15b0b27311cedf172ab29e4f4766fbe7f4364",
    poolDeployer: "0x41ff9aa7e16b8b1a8a8dc4f0efacd93d02d071c9",
    poolCodeHash: "0x6ce8eb472fa82df5469c6ab6d485f17c3ad13c8cd7af59b3d4a8026c5ce0f7e2",
  };
}

function sushiSwap(manager: Hex, factory: Hex): LiquidityNftMarket {
  return {
    ...{ protocol: "sushiswap-v3", name: "SushiSwap v3", shape: "uniswap" },
    ...{ manager, poolDeployer: factory, poolCodeHash: UNISWAP_CODE_HASH },
  };
}

type Slipstream = { readonly manager: Hex; readonly factory: Hex; readonly poolCodeHash: Hex };

/** Pools are minimal proxies: the hash is that of the proxy code with the pool implementation in it. */
function aerodrome({ manager, factory, poolCodeHash }: Slipstream): LiquidityNftMarket {
  return {
    ...{ protocol: "aerodrome-slipstream", name: "Aerodrome Slipstream", shape: "slipstream" },
    ...{ manager, poolDeployer: factory, poolCodeHash },
    voter: "0x16613524e02ad97edfef371bc883f2f5d6c480a5",
  };
}

function velodrome({ manager, factory, poolCodeHash }: Slipstream): LiquidityNftMarket {
  return {
    ...{ protocol: "velodrome-slipstream", name: "Velodrome Slipstream", shape: "slipstream" },
    ...{ manager, poolDeployer: factory, poolCodeHash },
    voter: "0x41c914ee0c7e1a5edcd0295623e6dc557b5abf3c",
  };
}

export const LIQUIDITY_NFT_MARKETS: ReadonlyMap<number, readonly LiquidityNftMarket[]> = new Map([
  [
    1,
    [
      UNISWAP_ORIGINAL,
      pancakeSwap("0x556b9306565093c855aea9ae92a594704c2cd59e"),
      sushiSwap("0x2214a42d8e2a1d20635c2cb0664422c528b6a432", "0xbaceb8ec6b9355dfc0269c18bac9d6e2bdc29c4f"),
    ],
  ],
  [
    10,
    [
      UNISWAP_ORIGINAL,
      sushiSwap("0x1af415a1eba07a4986a52b6f2e7de7003d82231e", "0x9c6522117e2ed1fe5bdb72bb0ed5e3f2bde7dbe0"),
      velodrome({
        manager: "0x416b433906b1b72fa758e166e239c43d68dc6f29",
        factory: "0xcc0bddb707055e04e497ab22a59c2af4391cd12f",
        poolCodeHash: "0x339492e30b7a68609e535da9b0773082bfe60230ca47639ee5566007d525f5a7",
      }),
      velodrome({
        manager: "0xf7f8ccce99ca2896ec75d3a399d152db96808399",
        factory: "0xe13dd1fba721aa81a1826d9523ac9bc7d260c879",
        poolCodeHash: "0x25efd0c736ab957a957b36c2c75a91187f58a107ecb5c7f04ba8f02d4984917f",
      }),
    ],
  ],
  [
    137,
    [
      UNISWAP_ORIGINAL,
      sushiSwap("0xb7402ee99f0a008e461098ac3a27f4957df89a40", "0x917933899c6a5f8e37f31e19f92cdbff7e8ff0e2"),
    ],
  ],
  [
    8453,
    [
      UNISWAP_BASE,
      pancakeSwap("0xc6a2db661d5a5690172d8eb0a7dea2d3008665a3"),
      sushiSwap("0x80c7dd17b01855a6d2347444a0fcc36136a314de", "0xc35dadb65012ec5796536bd9864ed8773abc74c4"),
      aerodrome({
        manager: "0x827922686190790b37229fd06084350e74485b72",
        factory: "0x5e7bb104d84c7cb9b682aac2f3d509f5f406809a",
        poolCodeHash: "0xffb9af9ea6d9e39da47392ecc7055277b9915b8bfc9f83f105821b7791a6ae30",
      }),
      aerodrome({
        manager: "0xa990c6a764b73bf43cee5bb40339c3322fb9d55f",
        factory: "0xade65c38cd4849adba595a4323a8c7ddfe89716a",
        poolCodeHash: "0xe524afc4d53c767ee9df4e3b4e1937f621368ef156aeffac97f1518b2b556f9d",
      }),
      aerodrome({
        manager: "0xe1f8cd9ac4e4a65f54f38a5cdafca44f6dd68b53",
        factory: "0xf8f2eb4940cfe7d13603dddd87f123820fc061ef",
        poolCodeHash: "0x280c936e3b6ea93b298f009706b8938823a03421b225ef9f81250beba561f05c",
      }),
    ],
  ],
  [
    42161,
    [
      UNISWAP_ORIGINAL,
      pancakeSwap("0x5e09acf80c0296740ec5d6f643005a4ef8daa694"),
      sushiSwap("0xf0cbce1942a68beb3d1b73f0dd86c8dcc363ef49", "0x1af415a1eba07a4986a52b6f2e7de7003d82231e"),
    ],
  ],
]);
