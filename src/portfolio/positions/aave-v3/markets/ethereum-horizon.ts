// Aave v3 Ethereum Horizon, written by scripts/aave-reserves.ts from @aave-dao/aave-address-book 4.68.1.
import type { AaveMarket } from "../market.ts";

export const aaveEthereumHorizon: AaveMarket = {
  name: "Aave v3 Ethereum Horizon",
  pool: "0xae05cd22df81871bc7cc2a04becfb516bfe332c8",
  oracle: "0x985bcfab7e0f4ef2606cc5b64fc1a16311880442",
  // biome-ignore format: one reserve a line keeps the largest market a page long
  reserves: [
    { underlying: "0x40d16fc0246ad3160ccc09b8d0d3a2cd28ae6c2f", aToken: "0x946281a2d0dd6e650d08f74833323d66ae4c8b12", debtToken: "0xdec2401c9b0b2e480e627e2a712c11addbf46e3e" }, // GHO
    { underlying: "0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48", aToken: "0x68215b6533c47ff9f7125ac95adf00fe4a62f79e", debtToken: "0x4139ecbe83d78ef5eff0a6eda6f894be9d590fc7" }, // USDC
    { underlying: "0x8292bb45bf1ee4d140127049757c2e0ff06317ed", aToken: "0xe3190143eb552456f88464662f0c0c4ac67a77eb", debtToken: "0xace8a1c0ec12ae81814377491265b47f4ee5d3dd" }, // RLUSD
    { underlying: "0x43415eb6ff9db7e26a15b704e7a3edce97d31c4e", aToken: "0x4e58a2e433a739726134c83d2f07b2562e8dfdb3", debtToken: "0xc435b02dcbef2e9bde55e28d39f53ddbe0760a2c" }, // USTB
    { underlying: "0x14d60e7fdc0d71d8611742720e4c50e7a974020c", aToken: "0x08b798c40b9ab931356d9ab4235f548325c4cb80", debtToken: "0xa0ec4758d806a3f41532c8e97ea0c85940182b0f" }, // USCC
    { underlying: "0x136471a34f6ef19fe571effc1ca711fdb8e49f2b", aToken: "0xc167932ac4eec2b65844ef00d31b4550250536a5", debtToken: "0x818d560bf1e54f92d1089710f9f4b29c2e6c9248" }, // USYC
    { underlying: "0x8c213ee79581ff4984583c6a801e5263418c4b86", aToken: "0x844f07ab09aa5dbdce6a9b1206ce150e1eadaccb", debtToken: "0x327f61fa4be6f578db5cc51e40da4ec4361a349c" }, // JTRSY
    { underlying: "0x5a0f93d040de44e78f251b03c43be9cf317dcf64", aToken: "0xb0ec6c4482ac1ef77be239c0ac833cf37a27c876", debtToken: "0x7bd81b1e0137fc0fa013b1de2be81180814c5deb" }, // JAAA
    { underlying: "0x2255718832bc9fd3be1caf75084f4803da14ff01", aToken: "0xe1cfd16b8e4b1c86bb5b7a104cfefbc7b09326dd", debtToken: "0xeaf93fd541f11d2617c2915d02f7fe67bca71d4f" }, // VBILL
    { underlying: "0x17418038ecf73ba4026c4f428547bf099706f27b", aToken: "0xc293744ffbcf46696d589f5c415e71bc491519cd", debtToken: "0x1f30d2b155fcda0f7551dc8be5de6a84977685d4" }, // ACRED
    { underlying: "0x7433806912eae67919e66aea853d46fa0aef98a8", aToken: "0x49d3cde03813ee32dfd47f6aa3957d5f9cbab985", debtToken: "0x40606ce958e14ad6ba575b00402d07438c3d58ac" }, // mGLOBAL
  ],
};
