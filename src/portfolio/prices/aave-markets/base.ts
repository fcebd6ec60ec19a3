// Aave v3 on Base: its oracle and the assets it lists, from @bgd-labs/aave-address-book.
import type { AaveMarket } from "./aave-market.ts";

export const baseAaveMarket: AaveMarket = {
  oracle: "0x2cc0fc26ed4563a5ce5e8bdcfe1a2878676ae156",
  assets: {
    WETH: "0x4200000000000000000000000000000000000006",
    cbETH: "0x2ae3f1ec7f1f5012cfeab0185bfc7aa3cf0dec22",
    USDbC: "0xd9aaec86b65d86f6a7b5b1b0c42ffa531710b6ca",
    wstETH: "0xc1cba3fcea344f92d9239c08c0568f6f2f0ee452",
    USDC: "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913",
    weETH: "0x04c0599ae5a44757c0af6f9ec3b93da8976c150a",
    cbBTC: "0xcbb7c0000ab88b473b1f5afd9ef808440eed33bf",
    ezETH: "0x2416092f143378750bb29b79ed961ab195cceea5",
    GHO: "0x6bb7a212910682dcfdbd5bcbb3e28fb4e8da10ee",
    wrsETH: "0xedfa23602d0ec14714057867a78d01e94176bea0",
    LBTC: "0xecac9c5f704e954931349da37f60e39f515c11c1",
    EURC: "0x60a3e35cc302bfa44cb288bc5a4f316fdb1adb42",
    AAVE: "0x63706e401c06ac8513145b7687a14804d17f814b",
    tBTC: "0x236aa50979d5f3de3bd1eeb40e81137f22ab794b",
    syrupUSDC: "0x660975730059246a68521a3e2fbd4740173100f5",
  },
};
