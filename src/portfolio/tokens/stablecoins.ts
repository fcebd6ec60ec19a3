// Dollar stablecoins by chain and address, never by symbol: the issuers' contracts and the canonical bridged ones.
import type { Hex } from "../../lib/hex.ts";

// Pegged to the dollar one to one. Savings tokens such as sDAI rise against the dollar and are not included. In
// brackets the sources that have the address, as token-lists/README.md names them: Aave is @aave-dao/aave-address-book,
// Optimism is @eth-optimism/tokenlist, Balancer, Morpho and Smol are their repositories.
const STABLECOINS: ReadonlyMap<number, readonly Hex[]> = new Map([
  [
    1,
    [
      "0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48", // USDC (Aave, Optimism)
      "0xdac17f958d2ee523a2206206994597c13d831ec7", // USDT (Aave, Optimism)
      "0x6b175474e89094c44da98b954eedeac495271d0f", // DAI (Aave, Optimism)
      "0xdc035d45d973e3ec169d2276ddab16f1e407384f", // USDS (Aave, Balancer)
      "0x40d16fc0246ad3160ccc09b8d0d3a2cd28ae6c2f", // GHO (Aave, Balancer)
      "0x6c3ea9036406852006290770bedfcaba0e23a0e8", // PYUSD (Aave, Balancer)
      "0xf939e0a03fb07f59a73314e73794be0e57ac1b4e", // crvUSD (Aave, Optimism)
      "0x5f98805a4e8be255a32880fdec7f6728c6568ba0", // LUSD (Aave, Optimism)
      "0x853d955acef822db058eb8505911ed77f175b99e", // FRAX (Aave, Optimism)
      "0x8e870d67f660d95d5be530380d0ec0bd388289e1", // USDP (Aave, Balancer)
      "0x056fd409e1d7a124bd7017459dfea2f387b6d5cd", // GUSD (Aave, Balancer)
      "0x0000000000085d4780b73119b644ae5ecd22b376", // TUSD (Aave, Optimism)
      "0x8292bb45bf1ee4d140127049757c2e0ff06317ed", // RLUSD (Aave, Balancer)
      "0x4c9edd5852cd905f086c759e8383e09bff1e68b3", // USDe (Aave, Balancer)
      "0x8d0d000ee44948fc98c9b98a4fa4921476f08b0d", // USD1 (Smol)
      "0xc5f0f7b66764f6ec8c8dff7ba683102295e16409", // FDUSD (Smol)
      "0xc139190f447e929f090edeb554d95abb8b18ac1c", // USDtb (Aave, Balancer)
      "0xe343167631d89b6ffc58b88d6b7fb0228795491d", // USDG (Aave, Balancer)
      "0x865377367054516e17014ccded1e7d814edc9ce4", // DOLA (Optimism, Balancer)
      "0x085780639cc2cacd35e474e71f4d000e2405d8f6", // fxUSD (Optimism, Smol)
      "0x4fabb145d64652a948d72533023f6e7a623c7c53", // BUSD (Aave, Balancer)
      "0x4f8e5de400de08b164e7421b3ee387f461becd1a", // USDD (Balancer, Morpho)
      "0xcacd6fd266af91b8aed52accc382b4e165586e29", // frxUSD (Balancer, Morpho)
      "0x6440f144b7e50d6a8439336510312d2f54beb01d", // BOLD (Balancer, Morpho)
      "0x00000000efe302beaa2b3e6e1b18d08d69a9012a", // AUSD (Balancer, Morpho)
      "0xaca92e438df0b2401ff60da7e4337b687a2435da", // mUSD (Aave, Smol)
      "0x73a15fed60bf67631dc6cd7bc5b6e8da8190acf5", // USD0 (Balancer, Morpho)
      "0xfa2b947eec368f42195f24f36d2af29f7c24cec2", // USDf (Balancer, Morpho)
    ],
  ],
  [
    10,
    [
      "0x0b2c639c533813f4aa9d7837caf62653d097ff85", // USDC (Aave, Optimism)
      "0x7f5c764cbc14f9669b88837ca1490cca17c31607", // USDC.e (Aave, Optimism)
      "0x94b008aa00579c1307b0ef2c499ad98a8ce58e58", // USDT (Aave, Optimism)
      "0xda10009cbd5d07dd0cecc66161fc93d7c9000da1", // DAI (Aave, Optimism)
      "0xc40f949f8a4e094d1b49a23ea9241d289b7b2819", // LUSD (Aave, Optimism)
      "0x01bff41798a0bcf287b996046ca68b395dbc1071", // USD₮0 (Optimism, Smol)
      "0x2e3d870790dc77a83dd1d18184acc7439a53f475", // FRAX (Optimism, Balancer)
      "0xc52d7f23a2e460248db6ee192cb23dd12bddcbf6", // crvUSD (Optimism, Smol)
      "0x8ae125e8653821e851f12a49f7765db9a9ce7384", // DOLA (Optimism, Balancer)
      "0x5d3a1ff2b6bab83b63cd9ad0787074081a52ef34", // USDe (Smol)
      "0x80eede496655fb9047dd39d9f418d5483ed600df", // frxUSD (Balancer, Smol)
      "0x9c9e5fd8bbc25984b178fdce6117defa39d2db39", // BUSD (Smol)
      "0xcb59a0a753fdb7491d5f3d794316f1ade197b21e", // TUSD (Optimism, Smol)
      "0x03569cc076654f82679c4ba2124d64774781b01d", // BOLD (Smol)
    ],
  ],
  [
    137,
    [
      "0x3c499c542cef5e3811e1192ce70d8cc03d5c3359", // USDC (Aave, Balancer)
      "0x2791bca1f2de4661ed88a30c99a7a9449aa84174", // USDC.e (Aave, Balancer)
      "0xc2132d05d31c914a87c6611c10748aeb04b58e8f", // USDT (Aave, Balancer)
      "0x8f3cf7ad23cd3cadbd9735aff958023239c6a063", // DAI (Aave, Balancer)
      "0x45c32fa6df82ead1e2ef74d17b76547eddfaff89", // FRAX (Balancer, Smol)
      "0x80eede496655fb9047dd39d9f418d5483ed600df", // frxUSD (Smol)
      "0xa3fa99a148fa48d14ed51d610c367c61876997f1", // miMATIC (Aave, Balancer)
      "0xdab529f40e671a1d4bf91361c21bf9f0c9712ab7", // BUSD (Smol)
      "0x9c9e5fd8bbc25984b178fdce6117defa39d2db39", // BUSD (Balancer, Smol)
      "0x2e1ad108ff1d8c782fcbbb89aad783ac49586756", // TUSD (Balancer, Smol)
      "0x00000000efe302beaa2b3e6e1b18d08d69a9012a", // AUSD (Smol)
      "0xc4ce1d6f5d98d65ee25cf85e9f2e9dcfee6cb5d6", // crvUSD (Smol)
    ],
  ],
  [
    8453,
    [
      "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913", // USDC (Aave, Optimism)
      "0xd9aaec86b65d86f6a7b5b1b0c42ffa531710b6ca", // USDbC (Aave, Optimism)
      "0x50c5725949a6f0c72e6c4a641f24049a917db0cb", // DAI (Optimism, Balancer)
      "0x6bb7a212910682dcfdbd5bcbb3e28fb4e8da10ee", // GHO (Aave, Balancer)
      "0xfde4c96c8593536e31f229ea8f37b2ada2699bb2", // USDT (Optimism, Balancer)
      "0x102d758f688a4c1c5a80b116bd945d4455460282", // USD₮0 (Optimism, Smol)
      "0x820c137fa70c8691f0e44dc420a5e53c168921dc", // USDS (Morpho, Smol)
      "0x5d3a1ff2b6bab83b63cd9ad0787074081a52ef34", // USDe (Smol)
      "0x417ac0e078398c154edfadd9ef675d30be60af93", // crvUSD (Optimism, Balancer)
      "0x368181499736d0c0cc614dbb145e2ec1ac86b8c6", // LUSD (Optimism, Smol)
      "0x4621b7a9c75199271f773ebd9a499dbd165c3191", // DOLA (Optimism, Smol)
      "0xe5020a6d073a794b6e7f05678707de47986fb0b6", // frxUSD (Balancer, Smol)
      "0x03569cc076654f82679c4ba2124d64774781b01d", // BOLD (Smol)
      "0x55380fe7a1910dff29a47b622057ab4139da42c5", // fxUSD (Morpho, Smol)
    ],
  ],
  [
    42161,
    [
      "0xaf88d065e77c8cc2239327c5edb3a432268e5831", // USDC (Aave, Balancer)
      "0xff970a61a04b1ca14834a43f5de4533ebddb5cc8", // USDC.e (Aave, Balancer)
      "0xfd086bc7cd5c481dcc9c85ebe478a1c0b69fcbb9", // USDT (Aave, Balancer)
      "0xda10009cbd5d07dd0cecc66161fc93d7c9000da1", // DAI (Aave, Balancer)
      "0x7dff72693f6a4149b17e7c6314655f6a9f7c8b33", // GHO (Aave, Balancer)
      "0x93b346b6bc2548da6a1e7d98e9a421b42541425b", // LUSD (Aave, Balancer)
      "0x17fc002b466eec40dae837fc4be5c67993ddbd6f", // FRAX (Aave, Balancer)
      "0x46850ad61c2b7d64d08c9c754f45254596696984", // PYUSD (Smol)
      "0x5d3a1ff2b6bab83b63cd9ad0787074081a52ef34", // USDe (Balancer, Morpho)
      "0x6491c05a82219b8d1479057361ff1654749b876b", // USDS (Smol)
      "0x498bf2b1e120fed3ad3d42ea2165e9b73f99c1e5", // crvUSD (Balancer, Smol)
      "0x6a7661795c374c0bfc635934efaddff3a7ee23b6", // DOLA (Balancer, Smol)
      "0x80eede496655fb9047dd39d9f418d5483ed600df", // frxUSD (Smol)
      "0x93c9932e4afa59201f0b5e63f7d816516f1669fe", // FDUSD (Smol)
      "0x4d15a3a2286d883af0aa1b3f21367843fac63e07", // TUSD (Balancer, Smol)
      "0x680447595e8b7b3aa1b43beb9f6098c79ac2ab3f", // USDD (Smol)
      "0x00000000efe302beaa2b3e6e1b18d08d69a9012a", // AUSD (Smol)
      "0x03569cc076654f82679c4ba2124d64774781b01d", // BOLD (Balancer, Smol)
    ],
  ],
] as const);

export function getStablecoins(chainId: number): ReadonlySet<Hex> {
  return new Set(STABLECOINS.get(chainId));
}
