// Aave v3 on Optimism: its oracle and the assets it lists, from @bgd-labs/aave-address-book.
import type { AaveMarket } from "./aave-market.ts";

export const optimismAaveMarket: AaveMarket = {
  oracle: "0xd81eb3728a631871a7ebbad631b5f424909f0c77",
  assets: {
    DAI: "0xda10009cbd5d07dd0cecc66161fc93d7c9000da1",
    LINK: "0x350a791bfc2c21f9ed5d10980dad2e2638ffa7f6",
    USDC: "0x7f5c764cbc14f9669b88837ca1490cca17c31607",
    WBTC: "0x68f180fcce6836688e9084f035309e29bf0a2095",
    WETH: "0x4200000000000000000000000000000000000006",
    USDT: "0x94b008aa00579c1307b0ef2c499ad98a8ce58e58",
    AAVE: "0x76fb31fb4af56892a25e32cfc43de717950c9278",
    sUSD: "0x8c6f28f2f1a3c87f0f938b96d27520d9751ec8d9",
    OP: "0x4200000000000000000000000000000000000042",
    wstETH: "0x1f32b1c2345538c0c6f582fcb022739c4a194ebb",
    LUSD: "0xc40f949f8a4e094d1b49a23ea9241d289b7b2819",
    MAI: "0xdfa46478f9e5ea86d57387849598dbfb2e964b02",
    rETH: "0x9bcef72be871e61ed4fbbc7630889bee758eb81d",
    USDCn: "0x0b2c639c533813f4aa9d7837caf62653d097ff85",
  },
};
