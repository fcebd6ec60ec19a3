// Contracts to which wallets lend tokens, or stake them.
import type { Spender } from "./spender.ts";

export const LENDING_AND_STAKING: readonly Spender[] = [
  {
    name: "Aave v2 Pool",
    protocol: "Aave",
    kind: "lending-pool",
    deployments: [
      [1, "0x7d2768dE32b0b80b7a3454c06BdAc94A69DDc7A9"],
      [137, "0x8dFf5E27EA6b7AC08EbFdf9eB090F32ee9a30fcf"],
    ],
  },
  {
    name: "Aave v3 Pool",
    protocol: "Aave",
    kind: "lending-pool",
    deployments: [
      [1, "0x87870Bca3F3fD6335C3F4ce8392D69350B4fA4E2"],
      [10, "0x794a61358D6845594F94dc1DB02A252b5b4814aD"],
      [137, "0x794a61358D6845594F94dc1DB02A252b5b4814aD"],
      [42161, "0x794a61358D6845594F94dc1DB02A252b5b4814aD"],
      [8453, "0xA238Dd80C259a72e81d7e4664a9801593F98d1c5"],
    ],
  },
  {
    name: "Spark Pool",
    protocol: "Spark",
    kind: "lending-pool",
    deployments: [[1, "0xC13e21B648A5Ee794902342038FF3aDAB66BE987"]],
  },
  {
    name: "Compound cUSDCv3",
    protocol: "Compound",
    kind: "lending-pool",
    deployments: [
      [1, "0xc3d688B66703497DAA19211EEdff47f25384cdc3"],
      [8453, "0xb125E6687d4313864e53df431d5425969c15Eb2F"],
      [42161, "0x9c4ec768c28520B50860ea7a15bd7213a9fF58bf"],
      [10, "0x2e44e174f7D53F0212823acC11C01A11d58c5bCB"],
      [137, "0xF25212E676D1F7F89Cd72fFEe66158f541246445"],
    ],
  },
  {
    name: "Compound cWETHv3",
    protocol: "Compound",
    kind: "lending-pool",
    deployments: [
      [1, "0xA17581A9E3356d9A858b789D68B4d866e593aE94"],
      [8453, "0x46e6b214b524310239732D51387075E0e70970bf"],
      [42161, "0x6f7D514bbD4aFf3BcD1140B7344b32f063dEe486"],
      [10, "0xE36A30D249f7761327fd973001A32010b521b6Fd"],
    ],
  },
  {
    name: "Morpho Blue",
    protocol: "Morpho",
    kind: "lending-pool",
    deployments: [
      [1, "0xBBBBBbbBBb9cC5e90e3b3Af64bdAF62C37EEFFCb"],
      [8453, "0xBBBBBbbBBb9cC5e90e3b3Af64bdAF62C37EEFFCb"],
    ],
  },
  {
    name: "Moonwell mUSDC",
    protocol: "Moonwell",
    kind: "lending-pool",
    deployments: [[8453, "0xEdc817A28E8B93B03976FBd4a3dDBc9f7D176c22"]],
  },
  {
    name: "Lido wstETH",
    protocol: "Lido",
    kind: "staking",
    deployments: [[1, "0x7f39C581F595B53c5cb19bD0b3f8dA6c935E2Ca0"]],
  },
  {
    name: "Lido withdrawal queue",
    protocol: "Lido",
    kind: "staking",
    deployments: [[1, "0x889edC2eDab5f40e902b864aD4d7AdE8E412F9B1"]],
  },
  {
    name: "ether.fi weETH",
    protocol: "ether.fi",
    kind: "staking",
    deployments: [[1, "0xCd5fE23C85820F7B72D0926FC9b05b43E359b7ee"]],
  },
  {
    name: "Ethena sUSDe",
    protocol: "Ethena",
    kind: "staking",
    deployments: [[1, "0x9D39A5DE30e57443BfF2A8307A4256c8797A3497"]],
  },
  {
    name: "Sky sUSDS",
    protocol: "Sky",
    kind: "staking",
    deployments: [[1, "0xa3931d71877C0E7a3148CB7Eb4463524FEc27fbD"]],
  },
  {
    name: "Sky sDAI",
    protocol: "Sky",
    kind: "staking",
    deployments: [[1, "0x83F20F44975D03b1b09e64809B757c47f942BEeA"]],
  },
  {
    name: "EigenLayer StrategyManager",
    protocol: "EigenLayer",
    kind: "staking",
    deployments: [[1, "0x858646372CC42E1A627fcE94aa7A7033e7CF075A"]],
  },
  {
    name: "Aerodrome voting escrow",
    protocol: "Aerodrome",
    kind: "staking",
    deployments: [[8453, "0xeBf418Fe2512e7E6bd9b87a8F0f294aCDC67e6B4"]],
  },
];
