// Aave v3 Optimism, written by scripts/aave-reserves.ts from @aave-dao/aave-address-book 4.68.1.
import type { AaveMarket } from "../market.ts";

export const aaveOptimism: AaveMarket = {
  name: "Aave v3 Optimism",
  pool: "0x794a61358d6845594f94dc1db02a252b5b4814ad",
  oracle: "0xd81eb3728a631871a7ebbad631b5f424909f0c77",
  // biome-ignore format: one reserve a line keeps the largest market a page long
  reserves: [
    { underlying: "0xda10009cbd5d07dd0cecc66161fc93d7c9000da1", aToken: "0x82e64f49ed5ec1bc6e43dad4fc8af9bb3a2312ee", debtToken: "0x8619d80fb0141ba7f184cbf22fd724116d9f7ffc" }, // DAI
    { underlying: "0x350a791bfc2c21f9ed5d10980dad2e2638ffa7f6", aToken: "0x191c10aa4af7c30e871e70c95db0e4eb77237530", debtToken: "0x953a573793604af8d41f306feb8274190db4ae0e" }, // LINK
    { underlying: "0x7f5c764cbc14f9669b88837ca1490cca17c31607", aToken: "0x625e7708f30ca75bfd92586e17077590c60eb4cd", debtToken: "0xfccf3cabbe80101232d343252614b6a3ee81c989" }, // USDC
    { underlying: "0x68f180fcce6836688e9084f035309e29bf0a2095", aToken: "0x078f358208685046a11c85e8ad32895ded33a249", debtToken: "0x92b42c66840c7ad907b4bf74879ff3ef7c529473" }, // WBTC
    { underlying: "0x4200000000000000000000000000000000000006", aToken: "0xe50fa9b3c56ffb159cb0fca61f5c9d750e8128c8", debtToken: "0x0c84331e39d6658cd6e6b9ba04736cc4c4734351" }, // WETH
    { underlying: "0x94b008aa00579c1307b0ef2c499ad98a8ce58e58", aToken: "0x6ab707aca953edaefbc4fd23ba73294241490620", debtToken: "0xfb00ac187a8eb5afae4eace434f493eb62672df7" }, // USDT
    { underlying: "0x76fb31fb4af56892a25e32cfc43de717950c9278", aToken: "0xf329e36c7bf6e5e86ce2150875a84ce77f477375", debtToken: "0xe80761ea617f66f96274ea5e8c37f03960ecc679" }, // AAVE
    { underlying: "0x8c6f28f2f1a3c87f0f938b96d27520d9751ec8d9", aToken: "0x6d80113e533a2c0fe82eabd35f1875dcea89ea97", debtToken: "0x4a1c3ad6ed28a636ee1751c69071f6be75deb8b8" }, // sUSD
    { underlying: "0x4200000000000000000000000000000000000042", aToken: "0x513c7e3a9c69ca3e22550ef58ac1c0088e918fff", debtToken: "0x77ca01483f379e58174739308945f044e1a764dc" }, // OP
    { underlying: "0x1f32b1c2345538c0c6f582fcb022739c4a194ebb", aToken: "0xc45a479877e1e9dfe9fcd4056c699575a1045daa", debtToken: "0x34e2ed44ef7466d5f9e0b782b5c08b57475e7907" }, // wstETH
    { underlying: "0xc40f949f8a4e094d1b49a23ea9241d289b7b2819", aToken: "0x8eb270e296023e9d92081fdf967ddd7878724424", debtToken: "0xce186f6cccb0c955445bb9d10c59cae488fea559" }, // LUSD
    { underlying: "0xdfa46478f9e5ea86d57387849598dbfb2e964b02", aToken: "0x8ffdf2de812095b1d19cb146e4c004587c0a0692", debtToken: "0xa8669021776bc142dfca87c21b4a52595bcbb40a" }, // MAI
    { underlying: "0x9bcef72be871e61ed4fbbc7630889bee758eb81d", aToken: "0x724dc807b04555b71ed48a6896b6f41593b8c637", debtToken: "0xf611aeb5013fd2c0511c9cd55c7dc5c1140741a6" }, // rETH
    { underlying: "0x0b2c639c533813f4aa9d7837caf62653d097ff85", aToken: "0x38d693ce1df5aadf7bc62595a37d667ad57922e5", debtToken: "0x5d557b07776d12967914379c71a1310e917c7555" }, // USDCn
  ],
};
