// Aave v3 Base, written by scripts/aave-reserves.ts from @aave-dao/aave-address-book 4.68.1.
import type { AaveMarket } from "../market.ts";

export const aaveBase: AaveMarket = {
  name: "Aave v3 Base",
  pool: "0xa238dd80c259a72e81d7e4664a9801593f98d1c5",
  oracle: "0x2cc0fc26ed4563a5ce5e8bdcfe1a2878676ae156",
  // biome-ignore format: one reserve a line keeps the largest market a page long
  reserves: [
    { underlying: "0x4200000000000000000000000000000000000006", aToken: "0xd4a0e0b9149bcee3c920d2e00b5de09138fd8bb7", debtToken: "0x24e6e0795b3c7c71d965fcc4f371803d1c1dca1e" }, // WETH
    { underlying: "0x2ae3f1ec7f1f5012cfeab0185bfc7aa3cf0dec22", aToken: "0xcf3d55c10db69f28fd1a75bd73f3d8a2d9c595ad", debtToken: "0x1dabc36f19909425f654777249815c073e8fd79f" }, // cbETH
    { underlying: "0xd9aaec86b65d86f6a7b5b1b0c42ffa531710b6ca", aToken: "0x0a1d576f3efef75b330424287a95a366e8281d54", debtToken: "0x7376b2f323dc56fcd4c191b34163ac8a84702dab" }, // USDbC
    { underlying: "0xc1cba3fcea344f92d9239c08c0568f6f2f0ee452", aToken: "0x99cbc45ea5bb7ef3a5bc08fb1b7e56bb2442ef0d", debtToken: "0x41a7c3f5904ad176dacbb1d99101f59ef0811dc1" }, // wstETH
    { underlying: "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913", aToken: "0x4e65fe4dba92790696d040ac24aa414708f5c0ab", debtToken: "0x59dca05b6c26dbd64b5381374aaac5cd05644c28" }, // USDC
    { underlying: "0x04c0599ae5a44757c0af6f9ec3b93da8976c150a", aToken: "0x7c307e128efa31f540f2e2d976c995e0b65f51f6", debtToken: "0x8d2e3f1f4b38aa9f1ced22ac06019c7561b03901" }, // weETH
    { underlying: "0xcbb7c0000ab88b473b1f5afd9ef808440eed33bf", aToken: "0xbdb9300b7cde636d9cd4aff00f6f009ffbbc8ee6", debtToken: "0x05e08702028de6aad395dc6478b554a56920b9ad" }, // cbBTC
    { underlying: "0x2416092f143378750bb29b79ed961ab195cceea5", aToken: "0xdd5745756c2de109183c6b5bb886f9207bef114d", debtToken: "0xbc4f5631f2843488792e4f1660d0a51ba489bdbd" }, // ezETH
    { underlying: "0x6bb7a212910682dcfdbd5bcbb3e28fb4e8da10ee", aToken: "0x067ae75628177fd257c2b1e500993e1a0babcbd1", debtToken: "0x38e59ade183bbeb94583d44213c8f3297e9933e9" }, // GHO
    { underlying: "0xedfa23602d0ec14714057867a78d01e94176bea0", aToken: "0x80a94c36747cf51b2fbabdff045f6d22c1930ed1", debtToken: "0xe9541c77a111bcaa5df56839bbc50894eba7afcb" }, // wrsETH
    { underlying: "0xecac9c5f704e954931349da37f60e39f515c11c1", aToken: "0x90072a4aa69b5eb74984ab823efc5f91e90b3a72", debtToken: "0xa2525b3f058846075506903d792d58c5a0d834c9" }, // LBTC
    { underlying: "0x60a3e35cc302bfa44cb288bc5a4f316fdb1adb42", aToken: "0x90da57e0a6c0d166bf15764e03b83745dc90025b", debtToken: "0x03d01595769333174036832e18fa2f17c74f8161" }, // EURC
    { underlying: "0x63706e401c06ac8513145b7687a14804d17f814b", aToken: "0x67eaf2bee4384a2f84da9eb8105c661c123736ba", debtToken: "0xcec1ea95ddef7cfc27d3d9615e05b035af460978" }, // AAVE
    { underlying: "0x236aa50979d5f3de3bd1eeb40e81137f22ab794b", aToken: "0xbcffb4b3beadc989bd1458740952af6ec8fbe431", debtToken: "0x182cdeec1d52ccad869d621ba422f449fa5809f5" }, // tBTC
    { underlying: "0x660975730059246a68521a3e2fbd4740173100f5", aToken: "0xd7424238ccbe7b7198ab3cfe232e0271e22da7bd", debtToken: "0x57b8c05ee2cd9d0143ebc21fbd9288c39b9f716c" }, // syrupUSDC
  ],
};
